/** The user's own items (docs/protocol/sync.md). */
import { range } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { item, purgeColumns } from '../../collection/item.ts';
import { removeItems } from '../../collection/remove.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { finalizeTimer, outgoingTransferMap } from '../../collection/transfer/transfer.ts';
import { purging, userPart } from '../hooks.ts';
import { checkIntegrity } from './check-integrity.ts';
import { Items } from './contract.ts';
import { getItem } from './get-item.ts';
import { returnToOwner } from './return-to-owner.ts';
import { sync } from './sync.ts';

/** Rows per commit: well below a commit's usual size, as a removal carries a key alone. */
export const purgeBatchItems = 500;

export const items = userPart(Items, {
  name: 'items',
  uses: [ItemSettings],
  slices: [head, outgoingTransferMap],
  tables: [item],
  commands: { sync, checkIntegrity, getItem, takeBack: returnToOwner },
  timers: { finalizeOverdueTransfer: finalizeTimer(Items.timers.finalizeOverdueTransfer) },
  on: {
    purge: purging({
      reads: (view, { after }) => ({
        items: range(item, {
          after,
          through: view.get(head).position,
          limit: purgeBatchItems,
          columns: purgeColumns,
        }),
      }),
      turn: (turn, { items: { rows, complete, upTo } }) => {
        removeItems(turn, rows);
        return {
          left: complete ? 'nothing' : 'more',
          progress: { after: Math.min(upTo, turn.get(head).position) },
        };
      },
    }),
  },
});
