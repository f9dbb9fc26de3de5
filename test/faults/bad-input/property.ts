import fc from 'fast-check';

/** The same inputs in every run; a failure names the seed and the path to its smallest case. */
const seed = 20_260_101;
const timeLimitMs = 20_000;

/** Checks `property` with this many random inputs, or as many as a busy machine has time for. */
export function holds<Values>(property: fc.IAsyncProperty<Values>, numRuns: number): Promise<void> {
  const options = { seed, numRuns, interruptAfterTimeLimit: timeLimitMs, includeErrorInReport: true };
  return fc.assert(property, options);
}

/** Every one of `cases`, a few at a time. */
export async function forAll<T>(cases: readonly T[], check: (one: T) => Promise<void>, atOnce = 8) {
  const queue = [...cases];
  const worker = async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await check(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
