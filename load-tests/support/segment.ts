/** The part of a run that belongs to one of several machines. */

/** The length of what k6 calls an execution segment, such as "0:1/2"; without one it is the whole. */
export function lengthOf(segment: string | null | undefined): number {
  if (segment === null || segment === undefined || segment === '') return 1;
  const [to = 1, from = 0] = segment.split(':').map(numberOf).toReversed();
  return to - from;
}

/** As k6 writes them: "1", "0.5" or "1/2". */
function numberOf(text: string): number {
  const [above, below = 1] = text.split('/').map(Number);
  return (above ?? Number.NaN) / below;
}

/** @throws Error, one line, if the thresholds of an archive are for another number of machines */
export function expectPartOf(machines: number, segment: string | null | undefined): void {
  const length = lengthOf(segment);
  if (Math.abs(length * machines - 1) < 0.01) return;
  throw new Error(
    `This is made for ${machines} machines, and runs here as ${segment ?? 'the whole'}: set MACHINES to how many run a segment each.`,
  );
}
