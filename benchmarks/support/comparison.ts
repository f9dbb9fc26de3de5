import { format } from './figures.ts';
import { median } from './statistics.ts';

/** With fewer runs, ranges mean nothing. */
const leastRuns = 3;

type Runs = readonly Readonly<Record<string, number>>[];

/**
 * Median and range of each figure for both builds. The ratio appears only if it cannot be chance: no run of one build
 * is within the range of the other.
 */
export function printComparison(
  title: string,
  [before, after]: readonly [string, string],
  [runsBefore = [], runsAfter = []]: readonly Runs[],
): void {
  console.log(`\n${title.padEnd(26)} ${before.padEnd(28)} ${after.padEnd(28)} ratio`);
  for (const figure of Object.keys(runsBefore[0] ?? {})) {
    const [a, b] = [range(runsBefore, figure), range(runsAfter, figure)];
    const isApart = runsBefore.length >= leastRuns && (a.least > b.most || b.least > a.most);
    const ratio = isApart ? format(b.middle / a.middle) : '';
    console.log(`  ${figure.padEnd(24)} ${textOf(a).padEnd(28)} ${textOf(b).padEnd(28)} ${ratio}`);
  }
}

function range(runs: Runs, figure: string) {
  const values = runs.map((run) => run[figure] ?? Number.NaN);
  return { least: Math.min(...values), middle: median(values), most: Math.max(...values) };
}

const textOf = ({ least, middle, most }: ReturnType<typeof range>): string =>
  `${format(middle)} (${format(least)} to ${format(most)})`;
