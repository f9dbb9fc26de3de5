/**
 * Which blobs this process has begun to sync, which it has seen on the disk, so that nothing is asked of them again, and which the
 * system could not write.
 */
import { dirname } from 'node:path';
import { noop } from './store.ts';

/** Each name takes some hundred bytes; a blob that is forgotten is only synced once more. */
const namesMax = 20_000;

export class Syncs {
  /** Of each upload all that have begun. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #durable = new Set<string>();
  readonly #failed = new Set<string>();

  /** Nobody is told when it fails: the blob is then not among the durable ones. */
  begin(name: string, sync: () => Promise<void>): void {
    const upload = dirname(name);
    const earlier = this.#running.get(upload);
    const running: Promise<void> = sync()
      .then(() => this.add(name), noop)
      .then(() => earlier)
      .then(() => {
        if (this.#running.get(upload) === running) this.#running.delete(upload);
      });
    this.#running.set(upload, running);
  }

  /** Resolves once all of the upload of this blob are over that have begun. */
  async before(name: string): Promise<void> {
    await this.#running.get(dirname(name));
  }

  has(name: string): boolean {
    return this.#durable.has(name);
  }

  add(name: string): void {
    remember(this.#durable, name);
  }

  /** The system says so once, and to one. */
  fail(name: string): void {
    remember(this.#failed, name);
  }

  hasFailed(name: string): boolean {
    return this.#failed.has(name);
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#durable.delete(name);
  }

  async over(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

function remember(names: Set<string>, name: string): void {
  names.add(name);
  const [oldest] = names;
  if (names.size > namesMax && oldest !== undefined) names.delete(oldest);
}
