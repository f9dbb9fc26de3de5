/**
 * A vault that has ended returns each item to its owner by this job. It uses the same transfer as any other move
 * (`actors/collection/transfer.ts`), for as many items at once as one turn saves:
 *
 *     next       the owner of the oldest item that is left
 *     prepare    the oldest of that owner's items; if the owner is gone, their items are removed
 *     take back  asked of the owner's actor; an item that it does not take stays for the next round
 *     finalize
 *
 * A run that dies begins again with what is left.
 */
import { type JobRun, job, range, type Turn, type View } from '../../../runtime/command.ts';
import { unlessAbsent } from '../../../runtime/handles.ts';
import { head } from '../../collection/head.ts';
import { type ItemRow, item, purgeColumns } from '../../collection/item.ts';
import { removeItems } from '../../collection/remove.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { finalizePlan, finalizeTransfer, prepareTransfer } from '../../collection/transfer.ts';
import { Items } from '../../user/items/contract.ts';
import { successorOfOwner } from '../successors.ts';
import { VaultItems } from './contract.ts';

const minuteMs = 60_000;
/** A job of a vault with very many items ends after this and starts again, so that another host soon takes over after a crash. */
const runMs = minuteMs;
const timeoutMs = 2 * minuteMs;
/** These rows are read without ciphertext. */
const removeBatchMax = 500;

const { returnToOwners } = VaultItems.jobs;
const { finalizeOverdueTransfer } = VaultItems.timers;

export const returnToOwnersJob = job(returnToOwners, {
  timeoutMs,
  run: async (run) => {
    const untilMs = run.nowMs + runMs;
    while (run.nowMs < untilMs) {
      const { owner, isThrough } = await nextOwner(run);
      if (isThrough) return run.finish();
      // The next item has moved on while it was read.
      if (owner === undefined) continue;
      if (await isGone(run, owner)) await removeAll(run, owner);
      else await returnItems(run, owner);
    }
    return run.finish({ turn: (turn) => turn.start(returnToOwners, null) });
  },
});

type TombstoneReads = { readonly left: { readonly rows: readonly ItemRow[] } };

/** The items that this collection owns. */
const remainingItemsPlan = (view: View, limit: number, columns?: readonly (keyof ItemRow & string)[]) => ({
  left: range(item, {
    after: 0,
    through: view.get(head).position,
    limit,
    subset: 'present',
    ...(columns === undefined
      ? { budgetBytes: view.use(ItemSettings).turnLimits.bytes }
      : { columns: [...columns] }),
  }),
});

interface NextOwner {
  readonly owner: string | undefined;
  readonly isThrough: boolean;
}

function nextOwner(run: JobRun): Promise<NextOwner> {
  return run.turn({
    reads: (view) => remainingItemsPlan(view, 1, ['owner_uuid']),
    turn: (turn, { left }) => {
      const [first] = left.rows;
      const owner = first && successorOfOwner(turn, first.owner_uuid);
      return { owner, isThrough: owner === undefined && left.complete };
    },
  });
}

const ofOwner = (turn: Turn, owner: string, { left }: TombstoneReads): readonly ItemRow[] =>
  left.rows.filter((row) => successorOfOwner(turn, row.owner_uuid) === owner);

const isGone = async (run: JobRun, owner: string): Promise<boolean> => {
  const answer = await askToTakeBack(run, owner, []);
  return answer?.isGone ?? true;
};

const askToTakeBack = (run: JobRun, owner: string, items: readonly ItemRow[]) =>
  unlessAbsent(run.actors.get(Items, owner).ask.takeBack({ items }));

function removeAll(run: JobRun, owner: string): Promise<void> {
  return run.turn({
    reads: (view) => remainingItemsPlan(view, removeBatchMax, purgeColumns),
    turn: (turn, reads) => removeItems(turn, ofOwner(turn, owner, reads)),
  });
}

async function returnItems(run: JobRun, owner: string): Promise<void> {
  const { id, items } = await run.turn({
    reads: (view) => remainingItemsPlan(view, view.use(ItemSettings).turnLimits.items),
    turn: (turn, reads) => {
      const items = ofOwner(turn, owner, reads);
      return { id: prepareTransfer(turn, { to: owner }, items, finalizeOverdueTransfer), items };
    },
  });
  const applied = (await askToTakeBack(run, owner, items))?.applied ?? [];
  await run.turn({
    reads: (view) => finalizePlan(view, id, applied),
    turn: (turn, reads) => {
      finalizeTransfer({ turn, id, applied, reads, timers: VaultItems.timers });
    },
  });
}
