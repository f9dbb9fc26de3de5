/** Which blobs this process has begun to sync, and which it has seen on the disk: of those nothing is asked again. */
import { dirname } from 'node:path';
import { noop } from './store.ts';

/** Each name takes some hundred bytes; a blob that is forgotten is only synced once more. */
const durableMax = 20_000;

export class Syncs {
  /** The one begun last of each upload. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #durable = new Set<string>();

  /** Nobody is told when it fails: the blob is then not among the durable ones. */
  begin(name: string, sync: () => Promise<void>): void {
    const upload = dirname(name);
    const running: Promise<void> = sync()
      .then(() => this.add(name), noop)
      .then(() => {
        if (this.#running.get(upload) === running) this.#running.delete(upload);
      });
    this.#running.set(upload, running);
  }

  /** Resolves once the last of the upload of this blob is over. */
  async before(name: string): Promise<void> {
    await this.#running.get(dirname(name));
  }

  has(name: string): boolean {
    return this.#durable.has(name);
  }

  add(name: string): void {
    this.#durable.add(name);
    const [oldest] = this.#durable;
    if (this.#durable.size > durableMax && oldest !== undefined) this.#durable.delete(oldest);
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#durable.delete(name);
  }

  async over(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
