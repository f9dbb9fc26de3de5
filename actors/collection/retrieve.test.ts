import test from 'ava';
import { note, saver, uuidNumber } from '../../test/kit/items.ts';
import { head as headSlice } from './head.ts';
import type { ItemRow } from './item.ts';
import { changesPlan, frontPlan, itemPageOf, pageItems, tokensOf } from './retrieve.ts';
import { computeSaves } from './save-items.ts';
import { decodeToken } from './token.ts';

const head = { ...headSlice.initial, position: 9 };
const limits = { items: 150, bytes: 10_000_000 };

function rows(...contentTypes: string[]): ItemRow[] {
  const items = contentTypes.map((content_type, index) =>
    note({ uuid: uuidNumber(index + 1), content_type }),
  );
  const stored = { head: headSlice.initial, row: () => undefined, newGeneration: () => 'gen' };
  return [...computeSaves({ saver: saver(), stored, items, nowMicros: 1 }).writes.values()].map(
    ({ row }) => row,
  );
}

const all = (found: readonly ItemRow[]) => ({
  rows: found,
  complete: true,
  upTo: Number.POSITIVE_INFINITY,
});
const cut = (found: readonly ItemRow[], upTo: number) => ({ rows: found, complete: false, upTo });

test('the page size is 150 unless asked otherwise, and never above 300', (t) => {
  for (const none of [undefined, null, 0, -1, 0.5, Number.NaN]) t.is(pageItems(none), 150);
  t.is(pageItems(1), 1);
  t.is(pageItems(7.9), 7);
  t.is(pageItems(300), 300);
  t.is(pageItems(1e308), 300);
});

test('a first sync reads live items only, and its keys ahead', (t) => {
  const first = { after: 0, first: true };
  t.like(changesPlan(first, head, limits), { after: 0, through: 9, limit: 150, subset: 'live' });
  t.like(frontPlan(first, head), { after: 0, through: 9, subset: 'front' });
});

test('any other sync reads tombstones too, no forwarding ones, and nothing ahead', (t) => {
  const start = { after: 0, first: false };
  t.is(changesPlan(start, head, limits).subset, 'present');
  const front = frontPlan(start, head);
  t.is(front.after, front.through);
});

test('a client at the head asks the database for nothing', (t) => {
  const start = { after: 9, first: false };
  for (const plan of [changesPlan(start, head, limits), frontPlan(start, head)]) {
    t.true(plan.after >= plan.through);
  }
});

test('a complete page reaches the head, and a cut one its last row', (t) => {
  const found = rows('Note', 'Note');
  const start = { after: 0, first: false };
  t.deepEqual(itemPageOf({ changes: all(found), front: all([]), start, bound: 9 }), {
    rows: found,
    reached: 9,
    complete: true,
  });
  t.deepEqual(itemPageOf({ changes: cut(found, 2), front: all([]), start, bound: 9 }), {
    rows: found,
    reached: 2,
    complete: false,
  });
});

test('the first page begins with the keys, each version once, and without their tombstones', (t) => {
  const [one, two, key, theme] = rows('Note', 'Note', 'SN|ItemsKey', 'SN|Theme') as [
    ItemRow,
    ItemRow,
    ItemRow,
    ItemRow,
  ];
  const front = [key, { ...theme, deleted: true }];
  const first = { after: 0, first: true };
  t.deepEqual(itemPageOf({ changes: cut([one, two], 2), front: all(front), start: first, bound: 9 }).rows, [
    key,
    one,
    two,
  ]);
  t.deepEqual(itemPageOf({ changes: all([one, two, key]), front: all(front), start: first, bound: 9 }).rows, [
    key,
    one,
    two,
  ]);
  t.deepEqual(
    itemPageOf({ changes: all([one]), front: all(front), start: { after: 1, first: false }, bound: 9 }).rows,
    [one],
  );
});

test('every page has a sync token, and one that is followed by another a cursor', (t) => {
  const cursor = { collection: uuidNumber(1), generation: 'gen', position: 5 };
  const last = tokensOf({ collection: uuidNumber(1), generation: 'gen', head, position: 5, more: false });
  t.deepEqual(decodeToken(last.sync_token), [cursor]);
  t.false('cursor_token' in last);
  const { sync_token, cursor_token } = tokensOf({
    collection: uuidNumber(1),
    generation: 'gen',
    head,
    position: 5,
    more: true,
  });
  t.is(cursor_token, sync_token);
});
