/**
 * One item of the user's own (docs/protocol/sync.md, "A single item"), in their own collection or in a vault, which decides
 * who reads it.
 */
import { fullItem } from '../../collection/item-fields.ts';
import { itemHere, oneItemPlan } from '../../collection/one-item.ts';
import { owningRowsOf } from '../../collection/transfer/location-lookup.ts';
import { refuse } from '../../reply.ts';
import { VaultItems } from '../../vault/items/contract.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askIfThere } from '../vaults/ask.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { Items } from './contract.ts';

const notFound = refuse.notFound('Item not found.');

export const getItem = signedInWorkflow({
  ...Items.commands.getItem,
  run: async (workflow, { uuid }) => {
    const { own, vault } = await workflow.turn({
      reads: (view) => oneItemPlan(view, uuid),
      turn: (turn, reads) => {
        const own = itemHere(turn, uuid, reads);
        const owningRow = owningRowsOf([...reads.first.rows, ...reads.moved.rows]).get(uuid.toLowerCase());
        const isInVault = owningRow !== undefined && membershipsOf(turn).has(owningRow.collection);
        return { own, vault: isInVault ? owningRow.collection : undefined };
      },
    });
    if (own !== undefined) return { item: fullItem(own, uuid) };
    if (vault === undefined) return notFound;
    const asked = { by: workflow.self.id, uuid };
    const answer = await askIfThere(workflow, VaultItems, vault, (ask) => ask.getItem(asked));
    return answer?.item ? { item: answer.item } : notFound;
  },
});
