/** The smallest actor that saves items: each save is one new row of 1 KB and the head of its collection. */
import { z } from 'zod';
import { head } from '../../actors/collection/head.ts';
import { type ItemRow, item } from '../../actors/collection/item.ts';
import { command } from '../../runtime/command.ts';
import { kind } from '../../runtime/kind.ts';

const ciphertext = 'c'.repeat(1_024);

export function newItem(collection: string, uuid: string, position: number): ItemRow {
  return {
    collection,
    uuid,
    position,
    created_position: position,
    size: 1_300,
    owner_uuid: collection,
    content_type: 'Note',
    content: ciphertext,
    enc_item_key: '004:key',
    items_key_id: collection,
    auth_hash: null,
    duplicate_of: null,
    deleted: false,
    created_at_timestamp: 1_700_000_000_000_000,
    updated_at_timestamp: 1_700_000_000_000_000 + position,
    key_system_identifier: null,
    shared_vault_uuid: null,
    last_edited_by_uuid: null,
    updated_with_session: collection,
    fingerprint: Buffer.alloc(32, 1),
    revisions: 0,
    born: true,
    hop: null,
    moved_to: null,
    revised_at: 0,
    revision_uuid: null,
  };
}

export const collection = kind({
  name: 'collection',
  slices: [head],
  tables: [item],
  commands: {
    save: command(
      { request: z.string(), reply: z.number() },
      {
        creates: true,
        turn: (turn, uuid) => {
          const before = turn.get(head);
          if (turn.conflicting(item, { uuid }) !== undefined) return before.position;
          const position = before.position + 1;
          turn.insert(item, newItem(turn.self.id, uuid, position));
          turn.set(head, { ...before, position, items: before.items + 1 });
          return position;
        },
      },
    ),
  },
});
