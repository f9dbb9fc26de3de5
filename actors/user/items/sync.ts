/**
 * Item sync (docs/protocol/sync.md): one command that runs in one of three ways.
 *
 * - Without items it is a shared read. The durable head bounds what it gives. If the client's token is that head, it neither
 *   asks the database nor waits.
 * - Items that fit one turn are saved in one. The answer shows the collection as it was before the save, and its token is the
 *   head after it. What another device saves later gets a later position.
 * - More items take several turns, in order, and other devices may save in between. The token is then the head of the last turn
 *   that began where the one before had ended. What this call has saved beyond that comes back once, with the next sync.
 *
 * A sync that the client has named goes through the journal, and takes effect once (`actors/user/sync-lane/carry-out.ts`).
 *
 * A crash between two turns keeps the earlier ones. The client sends everything again, and what was saved is recognised.
 */
import { choiceCommand, type PlanResults, type Turn, type View } from '../../../runtime/command.ts';
import { refusal } from '../../collection/conflicts.ts';
import { type Head, head } from '../../collection/head.ts';
import { batchesOf, fitsOneTurn } from '../../collection/incoming.ts';
import type { ItemRow } from '../../collection/item.ts';
import { type ClientItem, fullItem } from '../../collection/item-fields.ts';
import { ItemSettings } from '../../collection/settings.ts';
import {
  idleReply,
  isLegacy,
  malformed,
  type SyncReply,
  type SyncRequest,
} from '../../collection/sync-contract.ts';
import {
  answerOfSync,
  beginSync,
  type ItemBatch,
  noVaults,
  type PageReads,
  type SavingUser,
  type SyncProgress,
  saveBatch,
  storedPlan,
  syncPagePlans,
} from '../../collection/sync-steps.ts';
import { tokenAt } from '../../collection/token.ts';
import { isRefused, type Refused } from '../../reply.ts';
import { itemsChanged, itemsPushed, User } from '../contract.ts';
import { inboxPlans, inboxResponse, withInbox } from '../inbox/in-sync.ts';
import {
  type SignedIn,
  type SignedInWorkflow,
  signedInRead,
  signedInTurn,
  signedInWorkflow,
} from '../signed-in.ts';
import { carryOut, commandStatus } from '../sync-lane/carry-out.ts';
import { SyncLane } from '../sync-lane/contract.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { collectionTimers, Items } from './contract.ts';
import { IdleSyncCache } from './idle-sync-cache.ts';
import { type OwnCollection, saveInOtherCollections } from './save-across-collections.ts';
import {
  advancePast,
  mayConcernVaults,
  type VaultReads,
  vaultPage,
  vaultPlans,
  withVaults,
} from './vault-pages.ts';

const { sync: shape } = Items.commands;
const none: readonly ClientItem[] = [];

function plansOf(view: View, request: SyncRequest, version?: number) {
  const { changes, front } = syncPagePlans(view, request);
  const { vaultItems, vaults } = vaultPlans(view, request, version);
  const { messages, notifications, invites } = inboxPlans(view, request);
  // Spreading the three into one object would cost more than making them.
  return { changes, front, vaultItems, vaults, messages, notifications, invites };
}
const idleSyncs = new IdleSyncCache<ReturnType<typeof plansOf>>();

const read = signedInRead(shape, {
  known: upToDate,
  reads: (view, request) => idleSyncs.plans(view, request, plansOf),
  answer: (view, request, reads) =>
    idleSyncs.reply(view, request, reads, () =>
      withInbox(
        answerOfSync(view.self.id, request, beginAll(view, request, reads), view.use(ItemSettings)),
        inboxResponse(view, request, reads),
      ),
    ),
});

/** The short answer for a device that has everything, as nearly all have. It is not for members of vaults, which have to be read. */
function upToDate(view: View, request: SyncRequest): SyncReply | undefined {
  const now = view.get(head);
  const sync_token = tokenAt(view.self.id, view.use(ItemSettings).generation, now, now.position);
  const isAtHead = now.position > 0 && (request.cursor_token || request.sync_token) === sync_token;
  if (!isAtHead || isLegacy(request) || membershipsOf(view).size > 0) return undefined;
  return idleReply(now, { sync_token });
}

type Steps = SignedInWorkflow<SyncReply>;

function oneTurnPlans(view: View, request: SyncRequest) {
  const { changes, front, vaultItems, vaults, messages, notifications, invites } = plansOf(view, request);
  const { stored, first, moved } = storedPlan({ view, request, items: request.items ?? none });
  return { changes, front, vaultItems, vaults, messages, notifications, invites, stored, first, moved };
}

function runInOneTurn(
  turn: Turn,
  request: SyncRequest,
  reads: PlanResults<ReturnType<typeof oneTurnPlans>>,
  by: SignedIn,
): SyncReply | Refused {
  const items = request.items ?? none;
  const wrong = malformed(items);
  if (wrong !== undefined) return wrong;
  const inbox = inboxResponse(turn, request, reads);
  const batch = { request, items, reads, by: savingUserOf(turn, by), timers: collectionTimers };
  const progress = save(turn, batch, beginAll(turn, request, reads));
  if (isRefused(progress)) return progress;
  // An item that may be in a vault is left out of the answer. The client sends it again, and the token of this answer
  // makes the server look.
  const mayBeInVault = !isLegacy(request) && membershipsOf(turn).size > 0;
  const foreign = progress.notHere
    .filter(({ updated_at_timestamp: version }) => version === 0 || !mayBeInVault)
    .map((each) => refusal('uuid_conflict', each, turn.self.id));
  const whole =
    foreign.length === 0 ? progress : { ...progress, conflicts: [...progress.conflicts, ...foreign] };
  return withInbox(answerOfSync(turn.self.id, request, whole, turn.use(ItemSettings)), inbox);
}

const saveInOneTurn = signedInTurn(shape, { reads: oneTurnPlans, turn: runInOneTurn });

async function runInSteps(workflow: Steps, request: SyncRequest): Promise<SyncReply | Refused> {
  const sent = request.items ?? none;
  const [first = none, ...others] = batchesOf(sent, workflow.use(ItemSettings).turnLimits);
  const begun = await workflow.turn({
    reads: (view) => ({ ...plansOf(view, request), ...storedPlan({ view, request, items: first }) }),
    turn: (turn, reads, by) => {
      const inbox = inboxResponse(turn, request, reads);
      const batch = { request, items: first, reads, by: savingUserOf(turn, by), timers: collectionTimers };
      const progress = malformed(sent) ?? save(turn, batch, beginAll(turn, request, reads));
      return isRefused(progress) ? progress : { progress, inbox, sessionUuid: by.session.uuid };
    },
  });
  let { progress } = begun;
  for (const items of others) progress = await saveFurtherBatch(workflow, { request, items }, progress);
  const { transfers, notHere } = progress;
  if (transfers.length + notHere.length > 0) {
    const own = ownCollection(workflow, request, progress);
    const context = { workflow, request, sessionUuid: begun.sessionUuid, own };
    const others = await saveInOtherCollections(context, progress);
    if (isRefused(others)) return others;
    const { saved, conflicts } = progress;
    progress = {
      ...progress,
      saved: [...saved, ...others.saved],
      conflicts: [...conflicts, ...others.conflicts],
      vaults: advancePast(progress.vaults, others.passed),
    };
  }
  return withInbox(
    answerOfSync(workflow.self.id, request, progress, workflow.use(ItemSettings)),
    begun.inbox,
  );
}

const saveInSteps = signedInWorkflow(shape, runInSteps);

/** Whether one turn saves all of it. */
const isPlain = (request: SyncRequest, settings: ItemSettings): boolean =>
  fitsOneTurn(request.items ?? none, settings.turnLimits) && !mayConcernVaults(request);

const namedSync = signedInWorkflow(shape, (workflow, request) =>
  carryOut(workflow, request, {
    isPlain: isPlain(request, workflow.use(ItemSettings)),
    plans: oneTurnPlans,
    turn: runInOneTurn,
    steps: runInSteps,
  }),
);

export const getSyncCommand = signedInWorkflow(SyncLane.commands.getSyncCommand, (workflow, request) =>
  commandStatus(workflow, request, { plans: oneTurnPlans, turn: runInOneTurn }),
);

interface FurtherBatch {
  readonly request: SyncRequest;
  readonly items: readonly ClientItem[];
  /** The rows of items that a transfer brings from another collection. */
  readonly incoming?: ReadonlyMap<string, ItemRow>;
}

function saveFurtherBatch(workflow: Steps, more: FurtherBatch, before: SyncProgress): Promise<SyncProgress> {
  return workflow.turn({
    reads: (view) => storedPlan({ view, ...more, remainingBytes: before.remainingBytes }),
    turn: (turn, reads, by) =>
      save(turn, { ...more, reads, by: savingUserOf(turn, by), timers: collectionTimers }, before),
  });
}

/** What arrives here after the first round comes back once: it does not move the token. */
function ownCollection(
  workflow: Steps,
  request: SyncRequest,
  { remainingBytes, page, head: now }: SyncProgress,
): OwnCollection {
  const unsaved = { page, saved: [], conflicts: [], transfers: [], notHere: [], vaults: noVaults };
  const empty = { ...unsaved, remainingBytes, end: -1, head: now };
  return {
    save: (items) => saveFurtherBatch(workflow, { request, items }, empty),
    apply: (items) => {
      const incoming = new Map(items.map(({ row }) => [row.uuid, row]));
      const sent = items.map((each) => each.sent);
      return saveFurtherBatch(workflow, { request, items: sent, incoming }, empty);
    },
  };
}

/** Begins with the own collection and with the user's vaults. */
function beginAll(view: View, request: SyncRequest, reads: PageReads & VaultReads): SyncProgress {
  const progress = beginSync(view, request, reads);
  return withVaults(progress, vaultPage(view, request, reads, progress.page));
}

/** A sync without items writes nothing, so it must not wait for the mailbox. */
export const sync = choiceCommand(shape, (request, by) => {
  const { items, identity } = request;
  if (identity !== undefined) return namedSync;
  if (!items || items.length === 0) return read;
  return isPlain(request, by.use(ItemSettings)) ? saveInOneTurn : saveInSteps;
});

function savingUserOf(turn: Turn, { session, readonly }: SignedIn): SavingUser {
  return { userUuid: turn.self.id, sessionUuid: session.uuid, readOnly: readonly };
}

function save(turn: Turn, batch: ItemBatch, progress: SyncProgress): SyncProgress | Refused {
  const before = turn.get(head);
  const after = saveBatch(turn, batch, progress);
  if (isRefused(after)) return after;
  if (after.head !== before) notifyOtherDevices(turn, before, after, batch.by.sessionUuid);
  return after;
}

// --- pushes --------------------------------------------------------------------------------------------------

/*
 * A save is announced to the user's other devices (docs/protocol/sockets.md, "Pushed items").
 *
 * They always hear that something has changed. A small save is pushed with its items. The push leads from one token to another,
 * and a client with exactly the first token may take it for a sync. No client says whether it knows pushes. One that does not
 * ignores them, and syncs because of the plain frame.
 *
 * A turn saves one run of positions; everything else that comes to the user takes other positions. So a client whose token is
 * the head before the turn had everything. With the push it has everything up to the head after the turn.
 */

const pushedItemsMax = 50;
/** A slow socket holds several pushes of this size. Larger ones are left to a sync. */
const pushedBytesMax = 16 * 1024;

function notifyOtherDevices(turn: Turn, before: Head, after: SyncProgress, sessionUuid: string): void {
  const { self, nowMicros } = turn;
  const { generation } = turn.use(ItemSettings);
  const tokenOf = (head: Head) => tokenAt(self.id, generation, head, head.position);
  turn.publish(User, () => itemsChanged(self.id, nowMicros, sessionUuid));
  turn.publish(User, () => {
    const rows = rowsBehind(before.position, after);
    const bytes = rows.reduce((sum, row) => sum + row.size, 0);
    if (rows.length > pushedItemsMax || bytes > pushedBytesMax) return undefined;
    return itemsPushed({
      userUuid: self.id,
      sessionUuid,
      timestamp: nowMicros,
      syncToken: tokenOf(after.head),
      baseSyncToken: tokenOf(before),
      items: rows.map((row) => fullItem(row)),
    });
  });
}

/** Each row once, as the turn left it. A repeat that was only recognised has a position from before the turn. */
function rowsBehind(position: number, { saved }: SyncProgress): readonly ItemRow[] {
  const last = new Map(saved.map(({ row }) => [row.uuid, row]));
  return [...last.values()]
    .filter((row) => row.position > position)
    .toSorted((a, b) => a.position - b.position);
}
