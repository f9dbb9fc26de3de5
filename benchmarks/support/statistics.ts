export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Runs `measure` several times and gives each figure's median. */
export async function medians<T extends Record<string, number>>(
  runs: number,
  measure: () => Promise<T>,
): Promise<T> {
  const results: T[] = [];
  for (let run = 0; run < runs; run += 1) results.push(await measure());
  const names = Object.keys(results[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(results.map((r) => r[name] ?? Number.NaN))]),
  ) as T;
}
