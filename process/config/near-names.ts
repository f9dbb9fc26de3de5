/** Finds mistyped settings: variables whose names differ only a little from that of a setting. */

export interface NearName {
  readonly variable: string;
  readonly meant: string;
}

/** Short names resemble too many others (`HOST`, `COST`) to allow two edits. */
const shortName = 7;
const shortDistance = 1;
const longDistance = 2;

export function nearNames(names: Iterable<string>, known: readonly string[]): NearName[] {
  const found: NearName[] = [];
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = known.find((candidate) => isNear(name.toUpperCase(), candidate));
    if (meant !== undefined) found.push({ variable: name, meant });
  }
  return found;
}

function isNear(name: string, known: string): boolean {
  const limit = known.length <= shortName ? shortDistance : longDistance;
  return Math.abs(name.length - known.length) <= limit && editDistance(name, known) <= limit;
}

/** How many letters must be inserted, deleted, replaced or swapped with their neighbour. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
