import test from 'ava';
import fc from 'fast-check';
import { note, saver, uuidNumber } from '../../test/kit/items.ts';
import { type Head, head as headSlice } from './head.ts';
import type { ItemRow } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { computeSaves, uuidsToRead } from './save-items.ts';

const nowMicros = 1_800_000_000_000_000;

function collection() {
  const rows = new Map<string, ItemRow>();
  let head: Head = headSlice.initial;
  return {
    rows,
    save(items: readonly ClientItem[], now = nowMicros) {
      const stored = { head, row: (uuid: string) => rows.get(uuid) };
      const result = computeSaves({ saver: saver(), stored, items, nowMicros: now });
      for (const [uuid, { row, replaced }] of result.writes) {
        if (replaced !== rows.get(uuid)) throw new Error('that is not what it replaces');
        rows.set(uuid, row);
      }
      head = result.head;
      return result;
    },
    get head() {
      return head;
    },
  };
}

test('one bad item leaves the others saved', (t) => {
  const { saved, conflicts } = collection().save([
    note({ content_type: 'Foo' }),
    note({ uuid: uuidNumber(2) }),
    note({ uuid: 'x' }),
  ]);
  t.deepEqual(
    saved.map(({ uuid }) => uuid),
    [uuidNumber(2)],
  );
  t.deepEqual(
    conflicts.map(({ type }) => type),
    ['content_type_error', 'uuid_conflict'],
  );
});

test('a second version of an item in one call is judged against the first', (t) => {
  const items = collection();
  const { saved, conflicts } = items.save([note({ content: 'a' }), note({ content: 'b' })]);
  t.is(saved.length, 1);
  t.is(conflicts[0]?.type, 'sync_conflict');
  t.is(conflicts[0]?.server_item?.content, 'a');
  t.is(items.rows.get(uuidNumber(1))?.content, 'a');
});

test('the same item twice in one call is saved once', (t) => {
  const { saved, conflicts, writes, head } = collection().save([note(), note()]);
  t.is(saved.length, 2);
  t.is(conflicts.length, 0);
  t.is(writes.size, 1);
  t.is(head.position, 1);
});

test('spellings of one uuid are one item, answered as spelt', (t) => {
  const uuid = 'ABCDEFAB-0000-4000-8000-000000000001';
  const items = collection();
  t.is(items.save([note({ uuid })]).saved[0]?.uuid, uuid);
  const again = items.save([note({ uuid: uuid.toLowerCase(), content: 'x' })]);
  t.is(again.conflicts[0]?.type, 'sync_conflict');
});

test('nothing saved leaves the head as it is', (t) => {
  const items = collection();
  const before = items.head;
  t.is(items.save([note({ content: 5 })]).head, before);
});

test('items that were synced before, and all items of legacy clients, are read first; new ones are not', (t) => {
  const items = [
    note({ uuid: uuidNumber(1), updated_at_timestamp: 0 }),
    note({ uuid: uuidNumber(2), updated_at_timestamp: 5 }),
    note({ uuid: uuidNumber(3), updated_at_timestamp: undefined }),
    note({ uuid: 'x', updated_at_timestamp: 5 }),
  ];
  t.deepEqual([...uuidsToRead(items, false)], [uuidNumber(2), uuidNumber(3)]);
  t.is(uuidsToRead(items, true).size, 3);
});

/** Uploads of few uuids by a client that knows some versions and guesses others, with fields of any type. */
const anyUpload = fc.array(
  fc.record(
    {
      uuid: fc.oneof(fc.integer({ min: 1, max: 4 }).map(uuidNumber), fc.constantFrom('x', null, 5)),
      content_type: fc.constantFrom('Note', 'Tag', 'Foo', null, 5),
      content: fc.oneof(fc.string(), fc.constantFrom(null, 5, {})),
      deleted: fc.constantFrom(true, false, null, 'x'),
      updated_at_timestamp: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 12 }).map((n) => nowMicros + n),
        fc.constantFrom(null, 'x', 0.5, -1),
      ),
      created_at_timestamp: fc.oneof(fc.integer(), fc.anything()),
      shared_vault_uuid: fc.constantFrom(null, uuidNumber(9)),
      key_system_identifier: fc.constantFrom(null, 'k', 5),
    },
    { requiredKeys: [] },
  ),
);

test('every item is saved, in conflict, or on to another collection, and positions and timestamps grow', (t) => {
  fc.assert(
    fc.property(fc.array(anyUpload, { maxLength: 5 }), (uploads) => {
      const items = collection();
      for (const upload of uploads) {
        const before = items.head;
        const { saved, conflicts, moving, notHere, writes } = items.save(upload as readonly ClientItem[]);
        const answered = saved.length + conflicts.length + moving.length + notHere.length;
        // A call that names an item twice gets the other side of its conflict once.
        const repeated = upload.length - new Set(upload.map(({ uuid }) => String(uuid).toLowerCase())).size;
        t.true(answered <= upload.length && answered >= upload.length - repeated);
        for (const { row } of writes.values()) {
          t.true(row.position > before.position && row.position <= items.head.position);
          t.true(row.updated_at_timestamp > before.updatedAtMicros);
          if (row.deleted) t.is(row.content, null);
        }
      }
      const rows = [...items.rows.values()].sort((a, b) => a.position - b.position);
      const stamps = rows.map((row) => row.updated_at_timestamp);
      t.deepEqual(
        stamps,
        [...new Set(stamps)].sort((a, b) => a - b),
      );
      t.is(items.head.items, rows.length);
      t.is(
        items.head.sizeBytes,
        rows.reduce((sum, row) => sum + row.size, 0),
      );
    }),
  );
});
