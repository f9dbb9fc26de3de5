import type { Store } from '../../runtime/store/store.ts';

/** A host that dies around one of its commits. */
export class Death {
  isDead = false;
  /** The commits until the fatal one; undefined while no commit is fatal. */
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

/**
 * Lets the host die around each commit of `run` in turn, before and after it is applied. Resolves to the number of
 * deaths.
 */
export async function atEveryCommit(
  run: (commit: number, isApplied: boolean) => Promise<boolean>,
): Promise<number> {
  let deaths = 0;
  for (let commit = 1; ; commit += 1) {
    const died = [await run(commit, false), await run(commit, true)];
    deaths += died.filter(Boolean).length;
    if (!died.includes(true)) return deaths;
  }
}
