interface Saturation {
  /** What succeeded, per second. */
  readonly rate: number;
  readonly slowestMs: number;
  readonly failed: number;
}

/** Callers who ask again as soon as they are answered. `turn` counts all requests of a caller in steps of `callers`. */
export async function saturate(
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
  work: (caller: number, turn: number) => Promise<unknown>,
): Promise<Saturation> {
  let done = 0;
  let failed = 0;
  let slowestMs = 0;
  const beganMs = performance.now();
  const endMs = beganMs + seconds * 1_000;
  const caller = async (number: number) => {
    for (let turn = number; performance.now() < endMs; turn += callers) {
      const sentMs = performance.now();
      await work(number, turn).then(
        () => (done += 1),
        () => (failed += 1),
      );
      slowestMs = Math.max(slowestMs, performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return { rate: (done * 1_000) / (performance.now() - beganMs), slowestMs, failed };
}

export const textOf = ({ rate, slowestMs, failed }: Saturation): string =>
  `${rate.toFixed(0)} saves/s, the slowest ${slowestMs.toFixed(0)} ms, ${failed} failed`;
