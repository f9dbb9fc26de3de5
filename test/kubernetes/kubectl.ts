/** kubectl and Helm, as an operator types them. */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { helmProgram } from '../../tools/helm.ts';
import { kubernetesFolder } from '../../tools/kubernetes/build.ts';
import type { Manifest, Tree } from '../helm/chart.ts';
import { root } from '../kit/server-process.ts';

const run = promisify(execFile);

export class Operator {
  readonly #environment: NodeJS.ProcessEnv;

  constructor(kubeconfig: string) {
    this.#environment = { ...process.env, KUBECONFIG: kubeconfig };
  }

  /** What it prints. @throws Error with what it says */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.#run(join(kubernetesFolder, 'kubectl'), args);
  }

  helm(...args: readonly string[]): Promise<string> {
    return this.#run(helmProgram, args);
  }

  /** Resolves when all pods of the set are those that it should have, and ready. */
  async rolledOut(set: string, namespace: string): Promise<void> {
    await this.kubectl('rollout', 'status', set, '--namespace', namespace, '--timeout=300s');
  }

  async get(...args: readonly string[]): Promise<Tree> {
    return JSON.parse(await this.kubectl('get', ...args, '--output=json'));
  }

  /** Makes or changes these. */
  async apply(manifests: readonly Manifest[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
    const child = spawn(join(kubernetesFolder, 'kubectl'), ['apply', '--filename=-'], {
      env: this.#environment,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    const said: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    child.stdin.end(list);
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`kubectl apply: ${Buffer.concat(said)}`);
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    try {
      const options = { cwd: root, env: this.#environment, maxBuffer: 64 * 1024 * 1024 };
      return (await run(program, [...args], options)).stdout;
    } catch (error) {
      const { stderr, stdout } = error as { stderr?: string; stdout?: string };
      throw new Error(`${program.split('/').at(-1)} ${args.join(' ')}: ${stderr || stdout || error}`);
    }
  }
}
