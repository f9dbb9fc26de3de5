import test from 'ava';
import fc from 'fast-check';
import { range } from '../command.ts';
import { table } from '../table.ts';
import { removed } from './layers.ts';
import { mergePlan } from './reads.ts';
import type { RetainedRow } from './rows.ts';

const note = table({
  name: 'note',
  columns: { owner: 'text', name: 'text', position: 'int8', size: 'int8' },
  key: ['owner', 'name'],
  order: 'position',
  size: 'size',
});

interface Note {
  readonly owner: string;
  readonly name: string;
  readonly position: number;
  readonly size: number;
}

const row = (name: string, position: number): Note => ({ owner: 'o', name, position, size: 10 });
const keptRow = (note_: Note | typeof removed, name: string): RetainedRow => ({
  table: note,
  key: `o\u0000${name}`,
  row: note_ === removed ? removed : { ...note_ },
  commit: 1,
  bytes: 0,
});

const keptRows = (...rows: readonly RetainedRow[]): ReadonlyMap<string, RetainedRow> =>
  new Map(rows.map((each) => [each.key, each]));

/** What the store would answer for the durable rows. */
function stored(rows: readonly Note[], after: number, limit: number) {
  const due = rows.filter((each) => each.position > after).sort((a, b) => a.position - b.position);
  return { rows: due.slice(0, limit).map((each) => ({ ...each })), complete: due.length <= limit };
}

test('a row that has moved on meanwhile is found at its new place only', (t) => {
  const plan = range(note, { after: 0, through: 2, limit: 10 });
  const answer = { rows: [{ ...row('a', 1) }, { ...row('b', 2) }], complete: true };
  const merged = mergePlan(plan, answer, keptRows(keptRow(row('a', 3), 'a')));
  t.deepEqual(
    merged.rows.map((each) => [each.name, each.position]),
    [
      ['b', 2],
      ['a', 3],
    ],
  );
  t.is(merged.upTo, Number.POSITIVE_INFINITY);
});

test('a page whose rows have all moved on still says how far it reaches', (t) => {
  const plan = range(note, { after: 0, through: 9, limit: 1 });
  const kept = keptRows(keptRow(row('a', 10), 'a'));
  const merged = mergePlan(plan, { rows: [{ ...row('a', 1) }], complete: false }, kept);
  t.deepEqual(merged, { rows: [], complete: false, upTo: 1 });
});

test('paging over what is stored, with anything kept over it, gives every row of the final state once', (t) => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  fc.assert(
    fc.property(
      fc.uniqueArray(name),
      fc.array(fc.tuple(name, fc.boolean())),
      fc.integer({ min: 1, max: 4 }),
      (durable, changes, limit) => {
        const before = durable.map((each, index) => row(each, index + 1));
        const over = new Map<string, Note | typeof removed>();
        for (const [index, [each, isRemoved]] of changes.entries()) {
          over.set(each, isRemoved ? removed : row(each, before.length + index + 1));
        }
        const kept = keptRows(...[...over].map(([each, value]) => keptRow(value, each)));
        const seen: string[] = [];
        let after = 0;
        for (let page = 0; page < 50; page += 1) {
          const plan = range(note, { after, through: before.length, limit });
          const isKnown = after >= before.length;
          const merged = mergePlan(plan, isKnown ? undefined : stored(before, after, limit), kept);
          t.true(merged.rows.length <= limit);
          seen.push(...merged.rows.map((each) => each.name));
          if (merged.complete) break;
          t.true(merged.upTo > after);
          after = merged.upTo;
        }
        const final = before.filter((each) => !over.has(each.name)).map((each) => each.name);
        for (const [each, value] of over) if (value !== removed) final.push(each);
        t.deepEqual(seen.sort(), final.sort());
      },
    ),
  );
});
