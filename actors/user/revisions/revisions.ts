/** The commands and timers of the `user` actor for the history of its items. */
import { type KeysPlan, type KeysResult, keys, type Turn, type View } from '../../../runtime/command.ts';
import { isUuid } from '../../collection/incoming.ts';
import { type ItemRow, transferVersionOf } from '../../collection/item.ts';
import {
  given,
  historyOf,
  historyPlan,
  listed,
  revisionIn,
  revisionKey,
} from '../../collection/revisions/read.ts';
import { revision } from '../../collection/revisions/table.ts';
import { revisionTimers } from '../../collection/revisions/timers.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { locationsPlan, owningRowsOf } from '../../collection/transfer/location-lookup.ts';
import { refuse } from '../../reply.ts';
import { VaultItems } from '../../vault/items/contract.ts';
import { profileSlice } from '../profile.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askIfThere } from '../vaults/ask.ts';
import { Revisions } from './contract.ts';
import { newestFirst } from './order.ts';

const notUuids = refuse.badRequest('That is not the uuid of an item or a revision.');
const unknown = refuse.notFound('Revision not found.');

/** The most vaults that are asked for the history of an item. */
const vaultsAskedMax = 20;

/** What the own collection has of an item, and where else there may be something of its history. */
const historyHere = (itemUuid: string, own: (collection: string) => KeysPlan<typeof revision>) => ({
  reads: ({ self }: View) => ({ rows: own(self.id), ...locationsPlan([itemUuid.toLowerCase()]) }),
  turn: (turn: Turn, { rows, first, moved }: HistoryReads) => {
    const found = [...first.rows, ...moved.rows];
    const owningRow = owningRowsOf(found).get(itemUuid.toLowerCase());
    const vaults = found
      .filter((row) => row.collection !== turn.self.id && row.shared_vault_uuid === row.collection)
      .toSorted((a, b) => transferVersionOf(b) - transferVersionOf(a))
      .map(({ collection }) => collection);
    // Deleted, its history is as well, wherever it was.
    const isDeleted = owningRow?.deleted === true;
    return { rows, vaults: isDeleted ? [] : [...new Set(vaults)].slice(0, vaultsAskedMax), isDeleted };
  },
});

interface HistoryReads {
  readonly rows: KeysResult<typeof revision>;
  readonly first: { readonly rows: readonly ItemRow[] };
  readonly moved: { readonly rows: readonly ItemRow[] };
}

const listRevisions = signedInWorkflow({
  ...Revisions.commands.listRevisions,
  run: async (workflow, { itemUuid }) => {
    if (!isUuid(itemUuid)) return workflow.turn({ turn: () => notUuids });
    const { id: by } = workflow.self;
    const here = historyHere(itemUuid, (collection) => historyPlan(collection, itemUuid));
    const { own, vaults } = await workflow.turn({
      reads: here.reads,
      turn: (turn, reads) => {
        const { rows, vaults, isDeleted } = here.turn(turn, reads);
        const history = isDeleted ? [] : historyOf(turn, turn.self.id, itemUuid, rows);
        return { own: history.map((row) => listed(row, itemUuid)), vaults };
      },
    });
    if (vaults.length === 0) return { revisions: own };
    const revisions = [...own];
    for (const uuid of vaults) {
      const asked = await askIfThere(workflow, VaultItems, uuid, (vault) =>
        vault.listRevisions({ by, itemUuid }),
      );
      revisions.push(...(asked?.revisions ?? []));
    }
    const newest = revisions.toSorted(newestFirst);
    const { perItemMax } = workflow.use(ItemSettings).revisions;
    return { revisions: newest.slice(0, perItemMax) };
  },
});

interface Named {
  readonly itemUuid: string;
  readonly id: string;
}

const areUuids = ({ itemUuid, id }: Named): boolean => isUuid(itemUuid) && isUuid(id);

const keysOf = (collection: string, named: Named) =>
  areUuids(named) ? [revisionKey(collection, named.itemUuid, named.id)] : [];

const getRevision = signedInWorkflow({
  ...Revisions.commands.getRevision,
  run: async (workflow, named) => {
    if (!areUuids(named)) return workflow.turn({ turn: () => notUuids });
    const { itemUuid, id } = named;
    const { id: by } = workflow.self;
    const here = historyHere(itemUuid, (collection) => keys(revision, keysOf(collection, named)));
    const { own, vaults } = await workflow.turn({
      reads: here.reads,
      turn: (turn, reads) => {
        const { rows, vaults, isDeleted } = here.turn(turn, reads);
        const row = isDeleted ? undefined : revisionIn(rows, revisionKey(turn.self.id, itemUuid, id), id);
        return { own: row, vaults };
      },
    });
    if (own !== undefined) return { revision: given(own, itemUuid) };
    for (const uuid of vaults) {
      const asked = await askIfThere(workflow, VaultItems, uuid, (vault) =>
        vault.getRevision({ by, itemUuid, id }),
      );
      if (asked?.revision) return { revision: asked.revision };
    }
    return unknown;
  },
});

/** What its saves have left in vaults goes as well, as long as the item is the user's. */
const deleteRevision = signedInWorkflow({
  ...Revisions.commands.deleteRevision,
  run: async (workflow, named) => {
    if (!areUuids(named)) return workflow.turn({ turn: () => notUuids });
    const { itemUuid, id } = named;
    const { id: by } = workflow.self;
    const here = historyHere(itemUuid, (collection) => keys(revision, keysOf(collection, named), 0));
    const { vaults } = await workflow.turn({
      reads: here.reads,
      turn: (turn, reads) => {
        const key = revisionKey(turn.self.id, itemUuid, id);
        if (revisionIn(reads.rows, key, id) === undefined) return { vaults: here.turn(turn, reads).vaults };
        turn.remove(revision, key);
        return { vaults: [] };
      },
    });
    for (const uuid of vaults) {
      await askIfThere(workflow, VaultItems, uuid, (vault) => vault.deleteRevision({ by, itemUuid, id }));
    }
    return { message: 'The revision is deleted.' };
  },
});

export const revisionCommands = { listRevisions, getRevision, deleteRevision };

/** The purge removes everything of a deleted account. */
const isGone = (turn: Turn): boolean => turn.get(profileSlice).state === 'deleted';

export const userRevisionTimers = revisionTimers(Revisions.timers, isGone);
