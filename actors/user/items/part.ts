/** The items of a user (docs/protocol/sync.md). */
import { range } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { item, purgeColumns } from '../../collection/item.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { itemHere, oneItemPlan, owningRowsOf } from '../../collection/locations.ts';
import { removeItems } from '../../collection/remove.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { finalizeTimer, outgoingTransferMap } from '../../collection/transfer.ts';
import { refuse } from '../../reply.ts';
import { VaultItems } from '../../vault/items/contract.ts';
import { purging, userPart } from '../hooks.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askIfThere } from '../vaults/ask.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { checkIntegrity } from './check-integrity.ts';
import { collectionTimers, Items } from './contract.ts';
import { returnToOwner } from './return-to-owner.ts';
import { sync } from './sync.ts';

const notFound = refuse.notFound('Item not found.');

/** If the item is in a vault, the vault decides who reads it. */
const getItem = signedInWorkflow(Items.commands.getItem, async (workflow, { uuid }) => {
  const { own, vault } = await workflow.turn({
    reads: (view) => oneItemPlan(view, uuid),
    turn: (turn, reads) => {
      const own = itemHere(turn, uuid, reads);
      const owningRow = owningRowsOf(reads).get(uuid.toLowerCase());
      const isInVault = owningRow !== undefined && membershipsOf(turn).has(owningRow.collection);
      return { own, vault: isInVault ? owningRow.collection : undefined };
    },
  });
  if (own !== undefined) return { item: fullItem(own, uuid) };
  if (vault === undefined) return notFound;
  const request = { by: workflow.self.id, uuid };
  const answer = await askIfThere(workflow, VaultItems, vault, (ask) => ask.getItem(request));
  return answer?.item ? { item: answer.item } : notFound;
});

/** Rows in one commit. Each removal carries a key alone, so the commit stays well below its usual size. */
export const purgeBatchItems = 500;

export const items = userPart(Items, {
  name: 'items',
  uses: [ItemSettings],
  slices: [head, outgoingTransferMap],
  tables: [item],
  commands: { sync, checkIntegrity, getItem, takeBack: returnToOwner },
  timers: { finalizeOverdueTransfer: finalizeTimer(collectionTimers) },
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
