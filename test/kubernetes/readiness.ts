/** How many pods of each part were ready, at the worst moment of a span. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { kubernetesFolder } from '../../tools/kubernetes/build.ts';

const parts = ['gateway', 'host'] as const;
export type Part = (typeof parts)[number];
export type Ready = Readonly<Record<Part, number>>;

/** A line for each change of a pod: its name, its part, whether it is ready, and since when it is terminating. */
const columns = [
  '{.metadata.name}',
  '{.metadata.labels.app\\.kubernetes\\.io/component}',
  '{.status.conditions[?(@.type=="Ready")].status}',
  '{.metadata.deletionTimestamp}',
].join(';');

export class Readiness {
  readonly #watch: ChildProcess;
  readonly #ready = new Map<string, Part>();
  #least: Ready;

  constructor(kubeconfig: string, namespace: string) {
    const options = ['--namespace', namespace, '--watch', `--output=jsonpath=${columns}{"\\n"}`];
    this.#watch = spawn(join(kubernetesFolder, 'kubectl'), ['get', 'pods', ...options], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#least = this.now;
    if (this.#watch.stdout === null) throw new Error('kubectl has no output');
    createInterface({ input: this.#watch.stdout }).on('line', (line) => this.#note(line));
  }

  get now(): Ready {
    const count = (part: Part): number => [...this.#ready.values()].filter((of) => of === part).length;
    return { gateway: count('gateway'), host: count('host') };
  }

  /** From here on. */
  begin(): void {
    this.#least = this.now;
  }

  get least(): Ready {
    return this.#least;
  }

  stop(): void {
    this.#watch.kill();
  }

  #note(line: string): void {
    const [name = '', component, ready, deletedAt] = line.split(';');
    const part = parts.find((of) => of === component);
    if (part === undefined) return;
    if (ready === 'True' && deletedAt === '') this.#ready.set(name, part);
    else this.#ready.delete(name);
    const { gateway, host } = this.now;
    this.#least = { gateway: Math.min(gateway, this.#least.gateway), host: Math.min(host, this.#least.host) };
  }
}
