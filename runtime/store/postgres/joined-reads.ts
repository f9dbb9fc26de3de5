/**
 * Joins reads that one statement can answer together: reads by key, or by the same unique key, of one table, for any owners. A
 * read with a limit or a budget stays by itself.
 */
import { type AnyRow, tupleText } from '../../table.ts';
import { isJoinable, type KeysRead, type LookupRead, type StoreRead, type StoreRows } from '../store.ts';

export interface JoinedRead {
  readonly read: StoreRead;
  /** Splits the rows found into an answer for each of the original reads. */
  split(found: StoreRows): readonly JoinedAnswer[];
}

interface JoinedAnswer {
  /** The index of the original read that it answers. */
  readonly index: number;
  readonly found: StoreRows;
}

type Matching = KeysRead | LookupRead;
interface MatchingRead {
  readonly read: Matching;
  readonly index: number;
}

export function joinReads(reads: readonly StoreRead[]): readonly JoinedRead[] {
  const unbatched: JoinedRead[] = [];
  const together = new Map<string, [MatchingRead, ...MatchingRead[]]>();
  for (const [index, read] of reads.entries()) {
    if (!isJoinable(read)) {
      unbatched.push(single(read, index));
      continue;
    }
    const name = `${read.table.name} ${columnsOf(read).join()}`;
    const same = together.get(name);
    if (same === undefined) together.set(name, [{ read, index }]);
    else same.push({ read, index });
  }
  return [...unbatched, ...[...together.values()].map(joined)];
}

const single = (read: StoreRead, index: number): JoinedRead => ({
  read,
  split: (found) => [{ index, found }],
});

function joined(members: readonly [MatchingRead, ...MatchingRead[]]): JoinedRead {
  const [first] = members;
  if (members.length === 1) return single(first.read, first.index);
  const by = columnsOf(first.read);
  const { table } = first.read;
  return {
    read: { read: 'lookup', table, unique: by, values: members.flatMap(({ read }) => valuesOf(read)) },
    split({ rows }) {
      const byValue = new Map(rows.map((row) => [tupleText(by, row), row]));
      return members.map(({ read, index }) => {
        return { index, found: { rows: rowsFor(by, valuesOf(read), byValue), complete: true } };
      });
    },
  };
}

/** In the order requested, without repeats. */
function rowsFor(
  by: readonly string[],
  requested: readonly AnyRow[],
  byValue: ReadonlyMap<string, AnyRow>,
): readonly AnyRow[] {
  const found = requested
    .map((value) => byValue.get(tupleText(by, value)))
    .filter((row) => row !== undefined);
  return [...new Set(found)];
}

const columnsOf = (read: Matching): readonly string[] =>
  read.read === 'keys' ? read.table.key : read.unique;

const valuesOf = (read: Matching): readonly AnyRow[] => (read.read === 'keys' ? read.keys : read.values);
