import test from 'ava';
import { note, saver, userUuid } from '../../test/kit/items.ts';
import { refusal, syncConflict } from './conflicts.ts';
import { head } from './head.ts';
import type { ItemRow } from './item.ts';
import { computeSaves } from './save-items.ts';
import { legacyReply, modernReply, type SyncReply, syncReplyJson } from './sync-contract.ts';

const stored = { head: head.initial, row: () => undefined, newGeneration: () => 'gen' };
const { saved } = computeSaves({ saver: saver(), stored, items: [note()], nowMicros: 1_800_000_000_000_000 });
const [{ row }] = saved as unknown as [{ row: ItemRow }];
const tokens = { sync_token: 's' };
const uuidConflict = refusal('uuid_conflict', note(), userUuid);

const sameSet = (t: { deepEqual(a: unknown, b: unknown): void }, of: object, names: readonly string[]) =>
  t.deepEqual(Object.keys(of).sort(), [...names].sort());

const savedFields = [
  'uuid',
  'duplicate_of',
  'content_type',
  'auth_hash',
  'deleted',
  'created_at',
  'created_at_timestamp',
  'updated_at',
  'updated_at_timestamp',
  'key_system_identifier',
  'shared_vault_uuid',
  'user_uuid',
  'last_edited_by_uuid',
];
const fullFields = [...savedFields, 'content', 'enc_item_key', 'items_key_id', 'updated_with_session'];

test('every list is there, also when empty', (t) => {
  t.deepEqual(modernReply({ retrieved: [], saved: [], conflicts: [], tokens }), {
    retrieved_items: [],
    saved_items: [],
    conflicts: [],
    sync_token: 's',
    messages: [],
    shared_vaults: [],
    shared_vault_invites: [],
    notifications: [],
  });
});

test('retrieved items are full and saved items come without their ciphertext', (t) => {
  const reply = modernReply({ retrieved: [row], saved, conflicts: [], tokens });
  sameSet(t, reply.retrieved_items[0] ?? {}, fullFields);
  sameSet(t, reply.saved_items[0] ?? {}, savedFields);
  t.is(reply.retrieved_items[0]?.updated_at, '2027-01-15T08:00:00.000000Z');
});

test('the text of a reply says what the reply says', (t) => {
  const conflicts = [uuidConflict, syncConflict(row, row.uuid)];
  const vaults = [
    {
      uuid: 'v',
      user_uuid: 'u',
      file_upload_bytes_used: 0,
      created_at_timestamp: 1,
      updated_at_timestamp: 2,
    },
  ];
  const more = { sync_token: 's', cursor_token: 'c' };
  const empty = modernReply({ retrieved: [], saved: [], conflicts: [], tokens });
  const full = modernReply({
    retrieved: [row, row],
    saved: [...saved, ...saved],
    conflicts,
    tokens: more,
    vaults,
  });
  const replies = [empty, full, legacyReply({ retrieved: [row], saved, conflicts, tokens })];
  for (const reply of replies) t.is(syncReplyJson(reply), JSON.stringify(reply));
  const command = { id: 'i', digest: 'd', state: 'committed' };
  const named = { ...full, command: { ...command, replayed: true } } as unknown as SyncReply;
  t.deepEqual(JSON.parse(syncReplyJson(named)), JSON.parse(JSON.stringify({ ...full, command })));
});

test('legacy replies hold full items and only uuid conflicts', (t) => {
  const conflicts = [uuidConflict, syncConflict(row, row.uuid), refusal('content_error', note(), userUuid)];
  const reply = legacyReply({ retrieved: [], saved, conflicts, tokens });
  sameSet(t, reply, ['retrieved_items', 'saved_items', 'unsaved', 'sync_token']);
  sameSet(t, reply.saved_items[0] ?? {}, fullFields);
  t.deepEqual(reply.unsaved, [{ item: uuidConflict.unsaved_item as never, error: { tag: 'uuid_conflict' } }]);
});

test('a legacy client gets back a version it saved over only when that is more than 20 seconds older', (t) => {
  const at = (seconds: number) => ({
    ...row,
    updated_at_timestamp: row.updated_at_timestamp - seconds * 1_000_000,
  });
  const reply = (older: ItemRow) => legacyReply({ retrieved: [older], saved, conflicts: [], tokens });
  t.deepEqual(reply(at(20)).unsaved, []);
  t.is(reply(at(21)).unsaved[0]?.error.tag, 'sync_conflict');
  for (const older of [at(20), at(21)]) t.deepEqual(reply(older).retrieved_items, []);
});
