/** The figures of a benchmark: their medians, how they are printed, and how two builds compare. */
export function printFigures(title: string, figures: Readonly<Record<string, number>>): void {
  console.log(`\n${title}`);
  for (const [figure, value] of Object.entries(figures))
    console.log(`  ${figure.padEnd(44)} ${format(value)}`);
}

export function format(value: number): string {
  if (value === 0) return '0';
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** NaN if there are no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** How long the work usually takes, one time after another. */
export async function medianMs(times: number, work: () => Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const startedMs = performance.now();
    await work();
    tookMs.push(performance.now() - startedMs);
  }
  return median(tookMs);
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

/** With fewer runs, ranges mean nothing. */
const leastRuns = 3;

/** With fewer pairs of runs, it may be chance that one build is ahead in each: 1 in 32 for six. */
const leastPairs = 6;

type Runs = readonly Readonly<Record<string, number>>[];

/**
 * Median and range of each figure for both builds. The ratio appears only if it is hardly chance: no run of one build
 * is within the range of the other, or one build is ahead in each of many pairs. The runs of a pair follow one another,
 * so a machine that becomes slower in the course of a comparison widens the ranges, but not the ratios.
 */
export function printComparison(
  title: string,
  [before, after]: readonly [string, string],
  [runsBefore = [], runsAfter = []]: readonly Runs[],
): void {
  console.log(`\n${title.padEnd(26)} ${before.padEnd(28)} ${after.padEnd(28)} ratio`);
  for (const figure of Object.keys(runsBefore[0] ?? {})) {
    const [a, b] = [range(runsBefore, figure), range(runsAfter, figure)];
    const ratios = runsBefore.map((run, pair) => figureOf(runsAfter[pair], figure) / figureOf(run, figure));
    const isApart = runsBefore.length >= leastRuns && (a.least > b.most || b.least > a.most);
    const isAhead = ratios.every((each) => each > 1) || ratios.every((each) => each < 1);
    const isVerdict = isApart || (ratios.length >= leastPairs && isAhead);
    const ratio = isVerdict ? textOf(rangeOf(ratios)) : '';
    console.log(`  ${figure.padEnd(24)} ${textOf(a).padEnd(28)} ${textOf(b).padEnd(28)} ${ratio}`);
  }
}

const figureOf = (run: Runs[number] | undefined, figure: string): number => run?.[figure] ?? Number.NaN;

const range = (runs: Runs, figure: string) => rangeOf(runs.map((run) => figureOf(run, figure)));

function rangeOf(values: readonly number[]) {
  return { least: Math.min(...values), middle: median(values), most: Math.max(...values) };
}

const textOf = ({ least, middle, most }: ReturnType<typeof rangeOf>): string =>
  `${format(middle)} (${format(least)} to ${format(most)})`;
