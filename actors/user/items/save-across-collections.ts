/**
 * Decides where the items of one sync are saved: in the user's own collection, or in a vault (docs/protocol/sync.md, "Items of
 * vaults"). The user's actor finds out where an item is, and asks for each step of a move
 * (`actors/collection/transfer.ts`). Each collection decides for itself, in turns of its own.
 *
 *     own       the own collection is offered everything first; an item that is there is saved, or moves out
 *     vaults    an item that names a vault, and is not in the own collection, goes to that vault
 *     locate    an item that a collection does not have is looked up by its uuid
 *     transfer  an item that leaves is applied at its target; then its source finalizes
 *     orphaned  an item that a client deletes in a vault that has ended is deleted in its owning collection
 *
 * The steps repeat until each item is saved or in conflict. Another device may move an item meanwhile. If a sync keeps losing
 * against such moves, or if a vault gives no answer, the client has to come back. It then sends its items again, and the server
 * recognises those that were saved by their fingerprint.
 */
import { NotFoundError, RetryableError } from '../../../runtime/errors.ts';
import { type Conflict, refusal } from '../../collection/conflicts.ts';
import { batchesOf, isAbsent } from '../../collection/incoming.ts';
import type { ClientItem } from '../../collection/item-fields.ts';
import { locatedRows, locationsPlan, owningRowsOf } from '../../collection/locations.ts';
import { namedCollectionOf, notMember } from '../../collection/save.ts';
import type { SavedEntry } from '../../collection/save-items.ts';
import { ItemSettings } from '../../collection/settings.ts';
import type { SyncReply, SyncRequest } from '../../collection/sync-contract.ts';
import type { PreparedItemTransfer, TransferredItem } from '../../collection/sync-steps.ts';
import { finalizePlan, finalizeTransfer } from '../../collection/transfer.ts';
import { type Answer, isRefused, type Refused } from '../../reply.ts';
import { type PositionRange, type SaveResult, VaultItems } from '../../vault/items/contract.ts';
import type { SignedInWorkflow } from '../signed-in.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { collectionTimers } from './contract.ts';

const roundsMax = 4;

/** Saves in the user's own collection: items that are there, and items that a transfer brings. */
export interface OwnCollection {
  save(items: readonly ClientItem[]): Promise<SaveResult>;
  apply(items: readonly TransferredItem[]): Promise<SaveResult>;
}

export interface SaveContext {
  readonly workflow: SignedInWorkflow<SyncReply>;
  readonly request: SyncRequest;
  readonly sessionUuid: string;
  readonly own: OwnCollection;
}

/** The result for the items that were saved outside the user's own collection. */
export interface SavedInOthers {
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  /** Positions that the client need not read back, in the order of the saves. */
  readonly passed: readonly PositionRange[];
}

/** Saves the items that the own collection does not have or is handing over. */
export async function saveInOtherCollections(
  context: SaveContext,
  { transfers, notHere }: Pick<SaveResult, 'transfers' | 'notHere'>,
): Promise<SavedInOthers | Refused> {
  const userUuid = context.workflow.self.id;
  const saved: SavedEntry[] = [];
  const conflicts: Conflict[] = [];
  const passed: PositionRange[] = [];
  let leaving = transfers;
  let offered = inVaults(userUuid, notHere);
  let unlocated = notHere.filter(({ shared_vault_uuid: vault }) => isAbsent(vault));
  let tombstoned = noUuids;
  for (let round = 0; round < roundsMax; round += 1) {
    const answers: Answer<SaveResult>[] = [];
    for (const each of leaving) answers.push(await move(context, each));
    for (const [collection, items] of offered) answers.push(...(await saveAt(context, collection, items)));
    const results: SaveResult[] = [];
    for (const answer of answers) {
      if (isRefused(answer)) return answer;
      results.push(answer.ok);
    }
    saved.push(...results.flatMap((each) => each.saved));
    conflicts.push(...results.flatMap((each) => each.conflicts));
    passed.push(...results.flatMap((each) => each.passed ?? []));
    leaving = results.flatMap((each) => each.transfers);
    unlocated = [...unlocated, ...results.flatMap((each) => each.notHere)];
    const orphaned = results.flatMap((each) => each.orphaned ?? []);
    if (leaving.length + unlocated.length + orphaned.length === 0) return { saved, conflicts, passed };
    const found = await locate(context, { unlocated, orphaned, tombstoned });
    conflicts.push(...found.conflicts);
    ({ offered, tombstoned } = found);
    unlocated = [];
    if (leaving.length === 0 && offered.size === 0) return { saved, conflicts, passed };
  }
  throw new RetryableError('the items of this sync are being moved by others', { outcome: 'unknown' });
}

type OfferedItems = ReadonlyMap<string, readonly ClientItem[]>;

function inVaults(userUuid: string, items: readonly ClientItem[]): OfferedItems {
  return grouped(
    items
      .filter(({ shared_vault_uuid: vault }) => !isAbsent(vault))
      .map((sent) => [namedCollectionOf({ userUuid }, sent), sent]),
  );
}

function grouped(placed: readonly (readonly [string, ClientItem])[]): OfferedItems {
  const groups = new Map<string, ClientItem[]>();
  for (const [collection, sent] of placed) groups.set(collection, [...(groups.get(collection) ?? []), sent]);
  return groups;
}

/** Applies at the target, then finalizes at the source. After a crash in between, the timer of the source finalizes. */
async function move(
  context: SaveContext,
  { id, from, to, items }: PreparedItemTransfer,
): Promise<Answer<SaveResult>> {
  const answer = await applyAt(context, to, items);
  const applied = isRefused(answer) ? [] : answer.ok.saved.map(({ row }) => row.uuid);
  await finalizeAt(context, from, id, applied);
  return answer;
}

async function applyAt(
  context: SaveContext,
  to: string,
  items: readonly TransferredItem[],
): Promise<Answer<SaveResult>> {
  const { workflow, own } = context;
  if (to === workflow.self.id) return { ok: await own.apply(items) };
  const sent = items.map((each) => each.sent);
  return conflictIfVaultIsGone(workflow.self.id, sent, () =>
    workflow.actors.get(VaultItems, to).ask.applyItemTransfer({ ...saverFields(context), items }),
  );
}

async function finalizeAt(
  { workflow }: SaveContext,
  from: string,
  id: string,
  applied: readonly string[],
): Promise<void> {
  if (from !== workflow.self.id) {
    await workflow.actors
      .get(VaultItems, from)
      .ask.finalizeItemTransfer({ id, applied: [...applied], by: workflow.self.id });
    return;
  }
  await workflow.turn({
    reads: (view) => finalizePlan(view, id, applied),
    turn: (turn, reads) => {
      finalizeTransfer({ turn, id, applied, reads, timers: collectionTimers });
    },
  });
}

async function saveAt(
  context: SaveContext,
  collection: string,
  items: readonly ClientItem[],
): Promise<readonly Answer<SaveResult>[]> {
  const { workflow, own } = context;
  const answers: Answer<SaveResult>[] = [];
  for (const batch of batchesOf(items, workflow.use(ItemSettings).turnLimits)) {
    if (collection === workflow.self.id) answers.push({ ok: await own.save(batch) });
    else {
      const ask = () =>
        workflow.actors.get(VaultItems, collection).ask.saveItems({ ...saverFields(context), items: batch });
      answers.push(await conflictIfVaultIsGone(workflow.self.id, batch, ask));
    }
  }
  return answers;
}

const saverFields = ({ workflow, sessionUuid, request }: SaveContext) => ({
  by: workflow.self.id,
  sessionUuid,
  snjsVersion: request.snjs_version,
  api: request.api,
});

/** If the vault does not exist, deletions come back as `orphaned`, and all other items as conflicts of a user who is no member. */
async function conflictIfVaultIsGone(
  userUuid: string,
  items: readonly ClientItem[],
  ask: () => Promise<Answer<SaveResult>>,
): Promise<Answer<SaveResult>> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const orphaned = items.filter((sent) => sent.deleted === true);
    const refused = items.filter((sent) => sent.deleted !== true);
    const conflicts = refused.map((sent) => notMember(sent, userUuid));
    return { ok: { saved: [], conflicts, transfers: [], notHere: [], orphaned } };
  }
}

interface LocateRequest {
  readonly unlocated: readonly ClientItem[];
  readonly orphaned: readonly ClientItem[];
  /** Uuids of which the round before found only forwarding tombstones. */
  readonly tombstoned: ReadonlySet<string>;
}

interface LocateResult {
  readonly offered: OfferedItems;
  readonly conflicts: readonly Conflict[];
  readonly tombstoned: ReadonlySet<string>;
}

/**
 * Looks each item up by its uuid, and offers it to its collection if the user may use that one. Any other item becomes a conflict,
 * which does not tell where the item is. An `orphaned` item that was returned to this user is deleted here.
 *
 * An item that has only forwarding tombstones is gone, or is moving just now. So it counts as gone only after two rounds in a row.
 */
async function locate(
  { workflow }: SaveContext,
  { unlocated, orphaned, tombstoned }: LocateRequest,
): Promise<LocateResult> {
  if (unlocated.length + orphaned.length === 0)
    return { offered: new Map(), conflicts: [], tombstoned: noUuids };
  const uuids = [...new Set([...unlocated, ...orphaned].map(uuidOf))];
  const { rows, owningRows, vaults } = await workflow.turn({
    reads: () => locationsPlan(uuids),
    turn: (turn, locations) => ({
      rows: locatedRows(locations),
      owningRows: owningRowsOf(locations),
      vaults: new Set(membershipsOf(turn).keys()),
    }),
  });
  const tombstones = new Set(rows.map(({ uuid }) => uuid).filter((uuid) => !owningRows.has(uuid)));
  const placed: (readonly [string, ClientItem])[] = [];
  const conflicts: Conflict[] = [];
  const self = workflow.self.id;
  for (const sent of orphaned) {
    const owningRow = owningRows.get(uuidOf(sent));
    if (owningRow?.collection === self) placed.push([self, { ...sent, shared_vault_uuid: null }]);
    else conflicts.push(notMember(sent, self));
  }
  for (const sent of unlocated) {
    const owningRow = owningRows.get(uuidOf(sent));
    const collection = owningRow?.collection ?? namedCollectionOf({ userUuid: self }, sent);
    const isGone = tombstones.has(uuidOf(sent)) && tombstoned.has(uuidOf(sent));
    const isAccessible =
      !isGone && (owningRow === undefined || collection === self || vaults.has(collection));
    if (isAccessible) placed.push([collection, sent]);
    else if (!isAbsent(sent.shared_vault_uuid) && owningRow?.shared_vault_uuid === collection) {
      conflicts.push(notMember(sent, self));
    } else conflicts.push(refusal('uuid_conflict', sent, self));
  }
  return { offered: grouped(placed), conflicts, tombstoned: tombstones };
}

const noUuids: ReadonlySet<string> = new Set();
const uuidOf = ({ uuid }: ClientItem): string => String(uuid).toLowerCase();
