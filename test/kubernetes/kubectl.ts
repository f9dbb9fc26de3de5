/** kubectl and Helm, as an operator types them. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { kubernetesFolder } from '../../tools/kubernetes/build.ts';
import { helmProgram } from '../../tools/programs.ts';
import type { Manifest, Tree } from '../helm/chart.ts';
import { shell } from '../kit/shell.ts';

export class Operator {
  readonly #environment: NodeJS.ProcessEnv;

  constructor(kubeconfig: string) {
    const folders = [kubernetesFolder, dirname(helmProgram), dirname(process.execPath)];
    const path = [...folders, process.env['PATH']].join(':');
    this.#environment = { ...process.env, PATH: path, KUBECONFIG: kubeconfig };
  }

  /** In the folder of the project. Resolves to its output. @throws Error with its message */
  run(command: string): Promise<string> {
    return shell(command, { env: this.#environment });
  }

  /** Resolves when all pods of the set are current and ready. A NATS server that never catches up restarts after eleven minutes. */
  async rolledOut(set: string, namespace: string): Promise<void> {
    await this.run(`kubectl rollout status ${set} --namespace ${namespace} --timeout=900s`);
  }

  async get(what: string): Promise<Tree> {
    return JSON.parse(await this.run(`kubectl get ${what} --output=json`));
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
}
