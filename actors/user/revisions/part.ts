/** The history of the user's items (docs/protocol/sync.md, "Revisions"). */
import { range, type Turn, tell, type View } from '../../../runtime/command.ts';
import { isUuid } from '../../collection/incoming.ts';
import { transferVersionOf } from '../../collection/item.ts';
import { type Locations, locatedRows, locationsPlan, owningRowsOf } from '../../collection/locations.ts';
import {
  remainingRevisionsPlan,
  removeRemainingRevisions,
} from '../../collection/revisions/deleted-elsewhere.ts';
import {
  removeRevision as deleteFound,
  type HistoryPlans,
  historyOf,
  historyPlan,
  listEntryOf,
  type RevisionName,
  revisionBodyOf,
  revisionIn,
  revisionPlan,
} from '../../collection/revisions/read.ts';
import { revision } from '../../collection/revisions/table.ts';
import {
  formerCollectionsPlan,
  tellFormerCollections,
  tellFormerVaults,
} from '../../collection/revisions/tell-elsewhere.ts';
import { revisionTimers } from '../../collection/revisions/timers.ts';
import { revisionUsageSlice } from '../../collection/revisions/usage.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { refuse } from '../../reply.ts';
import { VaultItems } from '../../vault/items/contract.ts';
import { purging, userPart } from '../hooks.ts';
import { profileSlice } from '../profile.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askIfThere } from '../vaults/ask.ts';
import { Revisions } from './contract.ts';
import { compareNewestFirst } from './order.ts';

const notUuids = refuse.badRequest('That is not the uuid of an item or a revision.');
const unknown = refuse.notFound('Revision not found.');

/** The most vaults that are asked for the history of an item. */
const vaultsMax = 20;

/** The history of an item in the own collection, and the vaults that may have more of it. */
const historyHere = (itemUuid: string, own: (collection: string) => HistoryPlans) => ({
  reads: ({ self }: View) => ({ ...own(self.id), ...locationsPlan([itemUuid.toLowerCase()]) }),
  turn: (turn: Turn, locations: Locations) => {
    const owningRow = owningRowsOf(locations).get(itemUuid.toLowerCase());
    const vaults = locatedRows(locations)
      .filter((row) => row.collection !== turn.self.id && row.shared_vault_uuid === row.collection)
      .toSorted((a, b) => transferVersionOf(b) - transferVersionOf(a))
      .map(({ collection }) => collection);
    // The history of a deleted item is deleted, in every collection.
    const isDeleted = owningRow?.deleted === true;
    return { vaults: isDeleted ? [] : [...new Set(vaults)].slice(0, vaultsMax), isDeleted };
  },
});

const listRevisions = signedInWorkflow(Revisions.commands.listRevisions, async (workflow, { itemUuid }) => {
  if (!isUuid(itemUuid)) return workflow.turn({ turn: () => notUuids });
  const { id: by } = workflow.self;
  const here = historyHere(itemUuid, (collection) => historyPlan(collection, itemUuid));
  const { own, vaults } = await workflow.turn({
    reads: here.reads,
    turn: (turn, reads) => {
      const { vaults, isDeleted } = here.turn(turn, reads);
      const history = isDeleted ? [] : historyOf(turn, itemUuid, reads);
      return { own: history.map((row) => listEntryOf(row, itemUuid)), vaults };
    },
  });
  if (vaults.length === 0) return { revisions: own };
  const revisions = [...own];
  for (const uuid of vaults) {
    const reply = await askIfThere(workflow, VaultItems, uuid, (vault) =>
      vault.listRevisions({ by, itemUuid }),
    );
    revisions.push(...(reply?.revisions ?? []));
  }
  const newest = revisions.toSorted(compareNewestFirst);
  const { perItemMax } = workflow.use(ItemSettings).revisions;
  return { revisions: newest.slice(0, perItemMax) };
});

const areUuids = ({ itemUuid, id }: RevisionName): boolean => isUuid(itemUuid) && isUuid(id);

const getRevision = signedInWorkflow(Revisions.commands.getRevision, async (workflow, { itemUuid, id }) => {
  const name = { itemUuid, id };
  if (!areUuids(name)) return workflow.turn({ turn: () => notUuids });
  const { id: by } = workflow.self;
  const here = historyHere(itemUuid, (collection) => revisionPlan(collection, name));
  const { own, vaults } = await workflow.turn({
    reads: here.reads,
    turn: (turn, reads) => {
      const { vaults, isDeleted } = here.turn(turn, reads);
      const row = isDeleted ? undefined : revisionIn(reads, turn.self.id, name);
      return { own: row, vaults };
    },
  });
  if (own !== undefined) return { revision: revisionBodyOf(own, itemUuid) };
  for (const uuid of vaults) {
    const reply = await askIfThere(workflow, VaultItems, uuid, (vault) => vault.getRevision({ by, ...name }));
    if (reply?.revision) return { revision: reply.revision };
  }
  return unknown;
});

/** Also deletes what saves have left in vaults, as long as the item is the user's. */
const deleteRevision = signedInWorkflow(
  Revisions.commands.deleteRevision,
  async (workflow, { itemUuid, id }) => {
    const name = { itemUuid, id };
    if (!areUuids(name)) return workflow.turn({ turn: () => notUuids });
    const { id: by } = workflow.self;
    const here = historyHere(itemUuid, (collection) => revisionPlan(collection, name));
    const { vaults } = await workflow.turn({
      reads: here.reads,
      turn: (turn, reads) => {
        const found = revisionIn(reads, turn.self.id, name);
        if (found === undefined) return { vaults: here.turn(turn, reads).vaults };
        deleteFound(turn, reads, found);
        return { vaults: [] };
      },
    });
    for (const uuid of vaults) {
      await askIfThere(workflow, VaultItems, uuid, (vault) => vault.deleteRevision({ by, ...name }));
    }
    return { message: 'The revision is deleted.' };
  },
);

/** Also for an account that is being purged. */
const deletedHere = tell(Revisions.tells.deletedHere, {
  reads: (_view, payload) => formerCollectionsPlan(payload),
  turn: (turn, payload, _sender, reads) => tellFormerCollections(turn, payload, reads),
});

/**
 * Hosts of an earlier release tell only the owner of the item. So the owner tells the vaults that the item came through, even if they
 * know already. Vaults pass nothing on. An account that is being purged tells them, too.
 */
const deletedElsewhere = tell(Revisions.tells.deletedElsewhere, {
  reads: (view, payload) => ({ ...remainingRevisionsPlan(view, payload), ...formerCollectionsPlan(payload) }),
  turn: (turn, payload, { address: deletedBy }, reads) => {
    tellFormerVaults(turn, payload, reads, deletedBy.id);
    if (!isGone(turn)) removeRemainingRevisions(turn, payload, reads);
  },
});

/** The purge removes everything of a deleted account. */
const isGone = (turn: Turn): boolean => turn.get(profileSlice).state === 'deleted';

const userRevisionTimers = revisionTimers(Revisions.timers, isGone);

/** Rows in one commit. A removal carries a key alone. */
const purgeBatchMax = 500;

export const revisions = userPart(Revisions, {
  name: 'revisions',
  uses: [ItemSettings],
  slices: [revisionUsageSlice],
  tables: [revision],
  commands: { listRevisions, getRevision, deleteRevision },
  tells: { deletedHere, deletedElsewhere },
  timers: userRevisionTimers,
  on: {
    purge: purging({
      reads: (view, { afterOffset }) => ({
        revisions: range(revision, {
          after: afterOffset,
          through: view.get(revisionUsageSlice).endOffset,
          limit: purgeBatchMax,
          columns: ['item_uuid', 'slot'],
        }),
      }),
      turn: (turn, { revisions: { rows, complete, upTo } }) => {
        for (const { collection, item_uuid, slot } of rows) {
          turn.remove(revision, { collection, item_uuid, slot });
        }
        return {
          left: complete ? 'nothing' : 'more',
          progress: { afterOffset: Math.min(upTo, turn.get(revisionUsageSlice).endOffset) },
        };
      },
    }),
  },
});
