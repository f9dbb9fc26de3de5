import type { Store } from '../../runtime/store/store.ts';

/** A host that dies around one of its commits. */
export class Death {
  isDead = false;
  /** Commits to go; none is meant while it is undefined. */
  #left: number | undefined;
  #isApplied = false;

  plan(commit: number, isApplied: boolean): void {
    this.#left = commit;
    this.#isApplied = isApplied;
  }

  over(): void {
    this.isDead = false;
    this.#left = undefined;
  }

  readonly schedule = async <T>(method: keyof Store, apply: () => T): Promise<T> => {
    if (this.isDead) return new Promise(() => {});
    await undefined;
    if (method !== 'commit' || this.#left === undefined) return apply();
    this.#left -= 1;
    if (this.#left > 0) return apply();
    this.isDead = true;
    if (this.#isApplied) apply();
    return new Promise(() => {});
  };
}
