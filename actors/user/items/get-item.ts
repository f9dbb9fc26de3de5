import { z } from 'zod';
import { keys } from '../../../runtime/command.ts';
import { isUuid } from '../../collection/incoming.ts';
import { item } from '../../collection/item.ts';
import { type FullItem, fullItem } from '../../collection/wire.ts';
import type { AccountSettings } from '../../services.ts';
import { refuse } from '../refusal.ts';
import { signedInSharedRead } from '../signed-in.ts';
import { itemFields } from './request.ts';

/** One item of the user's own, tombstones included (sync.md 2.2). Any other uuid is 404, whoever has it. */
export function createGetItemCommand(accounts: AccountSettings) {
  return signedInSharedRead(accounts, {
    request: itemFields,
    reply: z.custom<{ readonly item: FullItem }>(),
    reads: (view, { uuid }) => ({
      found: keys(item, isUuid(uuid) ? [{ collection: view.self.id, uuid: uuid.toLowerCase() }] : []),
    }),
    answer: (view, { uuid }, { found }) => {
      const row = isUuid(uuid)
        ? found.get({ collection: view.self.id, uuid: uuid.toLowerCase() })
        : undefined;
      return row === undefined ? refuse(404, 'Item not found.') : { item: fullItem(row, uuid) };
    },
  });
}
