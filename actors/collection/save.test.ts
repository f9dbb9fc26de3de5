import test from 'ava';
import {
  deletion,
  note,
  otherUserUuid,
  saver,
  sessionUuid,
  userUuid,
  uuidNumber,
} from '../../test/kit/items.ts';
import { head as headSlice } from './head.ts';
import type { ItemRow } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { type Saver, save } from './save.ts';

const nowMicros = 1_800_000_000_000_000;
const emptyHead = headSlice.initial;
const vault = uuidNumber(0xaaaa);

function attempt(sent: ClientItem, stored?: ItemRow, by: Saver = saver(), now = nowMicros) {
  return save({ saver: by, head: emptyHead, sent, stored, nowMicros: now });
}

function accepted(sent: ClientItem, stored?: ItemRow, by: Saver = saver(), now = nowMicros): ItemRow {
  const result = attempt(sent, stored, by, now);
  if (result.outcome !== 'saved') throw new Error(`not saved: ${JSON.stringify(result)}`);
  return result.row;
}

function refused(sent: ClientItem, stored?: ItemRow, by: Saver = saver()) {
  const result = attempt(sent, stored, by);
  if (result.outcome !== 'conflict') throw new Error(`no conflict: ${result.outcome}`);
  return result.conflict;
}

const stored = accepted(note());
const version = stored.updated_at_timestamp;
const edit = (overrides: ClientItem = {}) =>
  note({ updated_at_timestamp: version, content: '004:edit', ...overrides });

// --- the checks, in the order of docs/protocol/sync.md, "Saving an item"

test('a uuid of the wrong form is a uuid_conflict that gives the item back', (t) => {
  for (const uuid of [undefined, null, 5, '', 'x', `${uuidNumber(1)}0`]) {
    const conflict = refused(note({ uuid }));
    t.is(conflict.type, 'uuid_conflict');
    t.is(conflict.unsaved_item?.content, '004:ciphertext');
    t.false('server_item' in conflict);
  }
});

test('any version and variant of a uuid is accepted, in either case, and stored in lower case', (t) => {
  t.is(
    accepted(note({ uuid: 'ABCDEFAB-0000-F000-0000-00000000000A' })).uuid,
    'abcdefab-0000-f000-0000-00000000000a',
  );
});

test('a read-only session stores nothing and gets the item the user has', (t) => {
  const by = saver({ readOnly: true });
  const conflict = refused(edit(), stored, by);
  t.is(conflict.type, 'readonly_error');
  t.is(conflict.server_item?.content, '004:ciphertext');
  t.is(conflict.unsaved_item?.content, '004:edit');
  t.false('server_item' in refused(note(), undefined, by));
});

test("a read-only session does not get another user's item", (t) => {
  const foreign = { ...stored, collection: otherUserUuid, owner_uuid: otherUserUuid };
  t.false('server_item' in refused(edit(), foreign, saver({ readOnly: true })));
});

test('an item whose owning collection is another is looked for there, and nothing of it is shown', (t) => {
  const foreign = { ...stored, collection: otherUserUuid, owner_uuid: otherUserUuid };
  const left = { ...stored, moved_to: otherUserUuid };
  const toVault = edit({ shared_vault_uuid: vault, key_system_identifier: 'k' });
  for (const [sent, row] of [
    [edit(), foreign],
    [edit(), left],
    [toVault, undefined],
    [toVault, foreign],
  ] as const) {
    t.deepEqual(attempt(sent, row), { outcome: 'notHere' });
  }
});

test('a vault that an item of the user names is where it moves, once it is checked here', (t) => {
  const named = { shared_vault_uuid: vault.toUpperCase(), key_system_identifier: 'k' };
  t.deepEqual(attempt(edit(named), stored), { outcome: 'moves', row: stored, to: vault });
  t.is(refused(edit({ ...named, updated_at_timestamp: 1 }), stored).type, 'sync_conflict');
  t.is(refused(edit({ ...named, content_type: 'Foo' }), stored).type, 'content_type_error');
});

test('a caller who is no member is refused before the time check could show the stored item', (t) => {
  const inVault = { ...stored, collection: vault, shared_vault_uuid: vault };
  const stranger = saver({ collection: vault, vault: { permission: null, owns: () => false } });
  const sent = edit({ shared_vault_uuid: vault, key_system_identifier: 'k', updated_at_timestamp: 1 });
  for (const row of [undefined, stored, inVault]) {
    const conflict = refused(sent, row, stranger);
    t.is(conflict.type, 'shared_vault_not_member_error');
    t.false('server_item' in conflict);
  }
});

test('a vault without a key system is an invalid state', (t) => {
  const conflict = refused(edit({ shared_vault_uuid: vault }), stored);
  t.is(conflict.type, 'shared_vault_invalid_state');
  t.truthy(conflict.server_item);
});

test('content types clients do not know, and a missing one, are refused', (t) => {
  for (const content_type of ['Foo', '', 'note', 5, undefined]) {
    t.is(refused(note({ content_type })).type, 'content_type_error');
  }
  t.is(accepted(note({ content_type: null })).content_type, null);
  t.is(accepted(note({ content_type: 'Folder' })).content_type, 'Folder');
});

test('content that is no text, or too large, is a content_error', (t) => {
  for (const content of [{}, [], 5, true, 'a\0b', 'a\ud800b', '\udc00'])
    t.is(refused(note({ content })).type, 'content_error');
  const by = saver({ contentLimitBytes: 4 });
  t.is(refused(note({ content: 'äää' }), undefined, by).type, 'content_error');
  t.is(accepted(note({ content: 'ää' }), undefined, by).content, 'ää');
  t.is(accepted(note({ content: null })).content, null);
  t.is(accepted(note({ content: undefined })).content, null);
});

test('other fields of a wrong type or size are conflicts of types clients know', (t) => {
  const long = 'x'.repeat(100_000);
  t.is(refused(note({ enc_item_key: long })).type, 'content_error');
  t.is(refused(note({ enc_item_key: 5 })).type, 'content_error');
  t.is(refused(note({ items_key_id: long })).type, 'content_error');
  t.is(refused(note({ auth_hash: {} })).type, 'content_error');
  t.is(refused(note({ key_system_identifier: 7 })).type, 'content_error');
  t.is(refused(note({ deleted: 'yes' })).type, 'content_error');
  t.is(refused(note({ duplicate_of: 'x' })).type, 'uuid_error');
});

test('a key system needs a client that knows vaults', (t) => {
  const sent = note({ key_system_identifier: 'k' });
  for (const snjsVersion of ['2.199.0', null, 'x']) {
    t.is(refused(sent, undefined, saver({ snjsVersion })).type, 'shared_vault_snjs_version_error');
  }
  t.is(accepted(sent).key_system_identifier, 'k');
});

// --- the time check, docs/protocol/sync.md, "The exact-timestamp rule"

test('a timestamp off by one microsecond either way is a sync_conflict with the stored item alone', (t) => {
  for (const updated_at_timestamp of [version - 1, version + 1, 0, String(version), 0.5]) {
    const conflict = refused(edit({ updated_at_timestamp }), stored);
    t.is(conflict.type, 'sync_conflict');
    t.is(conflict.server_item?.updated_at_timestamp, version);
    t.false('unsaved_item' in conflict);
  }
});

test('the exact timestamp passes whatever updated_at says', (t) => {
  t.is(accepted(edit({ updated_at: '1970-01-01T00:00:00.000Z' }), stored).content, '004:edit');
});

test('without a timestamp, updated_at must be within a millisecond', (t) => {
  const sent = (updated_at: unknown) => edit({ updated_at_timestamp: undefined, updated_at });
  const iso = (micros: number) => new Date(micros / 1_000).toISOString();
  t.is(accepted(sent(iso(version)), stored).content, '004:edit');
  t.is(refused(sent(iso(version + 1_000)), stored).type, 'sync_conflict');
  t.is(refused(sent(undefined), stored).type, 'sync_conflict');
  t.is(refused(sent('nonsense'), stored).type, 'sync_conflict');
});

test('the legacy API allows a second, and no time at all', (t) => {
  const by = saver({ legacy: true });
  const sent = (overrides: ClientItem) => edit({ updated_at_timestamp: undefined, ...overrides });
  const iso = (micros: number) => new Date(micros / 1_000).toISOString();
  t.is(accepted(sent({ updated_at: iso(version + 999_000) }), stored, by).content, '004:edit');
  t.is(refused(sent({ updated_at: iso(version + 1_000_000) }), stored, by).type, 'sync_conflict');
  t.is(accepted(sent({ updated_at: undefined }), stored, by).content, '004:edit');
  t.is(accepted(sent({ updated_at_timestamp: 0 }), stored, by).content, '004:edit');
});

test('a mismatch of a tombstone gives the tombstone', (t) => {
  const tombstone = accepted(deletion(stored.uuid, version), stored);
  const conflict = refused(edit(), tombstone);
  t.is(conflict.type, 'sync_conflict');
  t.true(conflict.server_item?.deleted);
  t.is(conflict.server_item?.content, null);
});

// --- repeats (docs/protocol/sync.md, "Repeats")

test('a save repeated because its reply was lost is answered as saved and writes nothing', (t) => {
  const result = attempt(note(), stored);
  t.deepEqual(result, { outcome: 'repeat', row: stored });
  const edited = accepted(edit(), stored);
  t.is(attempt(edit(), edited).outcome, 'repeat');
});

test('the same item from another session, or with any field changed, is no repeat', (t) => {
  t.is(refused(note(), stored, saver({ sessionUuid: uuidNumber(9) })).type, 'sync_conflict');
  for (const change of [
    { content: 'x' },
    { deleted: true },
    { enc_item_key: 'x' },
    { created_at_timestamp: 1 },
  ]) {
    t.is(refused(note(change), stored).type, 'sync_conflict');
  }
});

test('a repeat after another save was accepted is a conflict', (t) => {
  const edited = accepted(edit(), stored);
  t.is(refused(note(), edited).type, 'sync_conflict');
});

// --- the row, docs/protocol/sync.md, "The stored item"

test('a new item is its user’s, at the next position, with the time of the save', (t) => {
  const row = accepted(note());
  t.like(row, {
    collection: userUuid,
    owner_uuid: userUuid,
    position: 1,
    created_position: 1,
    content: '004:ciphertext',
    deleted: false,
    created_at_timestamp: 1_708_942_272_345_678,
    updated_at_timestamp: nowMicros,
    updated_with_session: sessionUuid,
    last_edited_by_uuid: null,
    key_system_identifier: null,
    shared_vault_uuid: null,
    auth_hash: null,
    duplicate_of: null,
  });
});

test('a creation timestamp of 0 means unknown', (t) => {
  const created = (overrides: ClientItem) => accepted(note({ created_at_timestamp: 0, ...overrides }));
  t.is(created({}).created_at_timestamp, 1_708_942_272_345_678);
  t.is(created({ created_at: undefined }).created_at_timestamp, nowMicros);
});

test('an update takes the client’s word for the creation time, and for want of it the times of the update', (t) => {
  const created = (overrides: ClientItem) => accepted(edit(overrides), stored).created_at_timestamp;
  t.is(created({ created_at_timestamp: 5 }), 5);
  t.is(created({ created_at_timestamp: 0 }), 1_708_942_272_345_678);
  t.is(created({ created_at_timestamp: 0, created_at: undefined }), version);
});

test('an update replaces ciphertext only by what is not empty, and keeps owner and time of creation', (t) => {
  const full = accepted(note({ auth_hash: 'h', duplicate_of: uuidNumber(5) }));
  const at = { updated_at_timestamp: full.updated_at_timestamp };
  for (const empty of ['', null, undefined]) {
    const row = accepted(
      note({
        ...at,
        content: empty,
        enc_item_key: empty,
        items_key_id: empty,
        auth_hash: empty,
        duplicate_of: empty,
      }),
      full,
      saver({ sessionUuid: uuidNumber(9) }),
    );
    const stored = {
      content: full.content,
      enc_item_key: full.enc_item_key,
      items_key_id: full.items_key_id,
    };
    t.like(row, {
      ...stored,
      auth_hash: 'h',
      duplicate_of: uuidNumber(5),
      created_position: 1,
      owner_uuid: userUuid,
    });
    t.is(row.updated_with_session, uuidNumber(9));
  }
});

test('the key system is always replaced, absent meaning removed', (t) => {
  const inKeySystem = accepted(note({ key_system_identifier: 'k' }));
  t.is(accepted(edit(), inKeySystem).key_system_identifier, null);
  t.is(accepted(edit({ key_system_identifier: 'l' }), inKeySystem).key_system_identifier, 'l');
});

test('deleting blanks the ciphertext and keeps what identifies the item', (t) => {
  const full = accepted(note({ auth_hash: 'h', duplicate_of: uuidNumber(5) }));
  const row = accepted(deletion(full.uuid, full.updated_at_timestamp), full);
  t.like(row, {
    deleted: true,
    content: null,
    enc_item_key: null,
    items_key_id: null,
    auth_hash: null,
    size: 0,
    content_type: 'Note',
    duplicate_of: uuidNumber(5),
    created_at_timestamp: full.created_at_timestamp,
    owner_uuid: userUuid,
  });
});

test('deleting an unknown item leaves a tombstone without ciphertext', (t) => {
  const row = accepted(note({ deleted: true, updated_at_timestamp: 5 }));
  t.like(row, { deleted: true, content: null, enc_item_key: null, size: 0 });
});

test('a tombstone stays one when the client says nothing, and revives when it says so', (t) => {
  const tombstone = accepted(deletion(stored.uuid, version), stored);
  const at = { updated_at_timestamp: tombstone.updated_at_timestamp };
  t.like(accepted(note({ ...at, deleted: undefined }), tombstone), { deleted: true, content: null });
  t.like(accepted(note({ ...at, deleted: false }), tombstone), { deleted: false, content: '004:ciphertext' });
});

test('timestamps grow strictly even when the clock stands still or goes back', (t) => {
  const edited = accepted(edit(), stored, saver(), version);
  t.is(edited.updated_at_timestamp, version + 1);
  const again = accepted(edit({ updated_at_timestamp: edited.updated_at_timestamp }), edited, saver(), 5);
  t.is(again.updated_at_timestamp, version + 2);
});
