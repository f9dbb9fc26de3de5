/**
 * Makes a sync that its client has named take effect once (docs/protocol/sockets.md, "The journal"), even if it comes over the
 * lane and over HTTP.
 *
 *     unknown --hold--> held --carry out--> journaled (it changed something) or remembered (it did not)
 *                         `--30 s, refused--> unknown
 *
 * - A sync that fits one turn is looked up, saved and journaled in that turn. The commit has the save and the entry, or
 *   neither.
 * - A sync that needs several turns is held meanwhile, so that no second attempt runs beside it. A last turn journals it. A
 *   crash in between leaves it unknown: the client sends it again, and each saved item is recognised.
 * - A command over the lane is held before its client is told that it was accepted. From then on it has the status `accepted`.
 *   Once the hold has ended it is not carried out any more. So `unknown` stays true until the client asks again.
 */
import {
  type KeysResult,
  keys,
  type PlanResults,
  type Plans,
  type Turn,
  type View,
} from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { isForwardingTombstone, item } from '../../collection/item.ts';
import type { ClientItem } from '../../collection/item-fields.ts';
import {
  isLegacy,
  type ModernSyncReply,
  type SyncReply,
  type SyncRequest,
} from '../../collection/sync-contract.ts';
import { equalInConstantTime } from '../../identity/session-tokens.ts';
import { isRefused, type Refused } from '../../reply.ts';
import type { SignedInRequest } from '../../signed-in.ts';
import {
  type CommandIdentity,
  commandIdentityOf,
  commandIdPattern,
  holdLost,
  isUnderWay,
  journalFull,
  needsModernApi,
  otherDigest,
  wrongId,
} from '../../sync-command.ts';
import { findSession } from '../sessions/session.ts';
import type { SignedIn, SignedInWorkflow } from '../signed-in.ts';
import type { CommandStatus } from './contract.ts';
import { entryOf, type JournalEntry, replyAgain, uuidsInConflict } from './entry.ts';
import { type CommandPlan, commandPlan, findEntry, isJournalFull, journal } from './journal.ts';
import { commandKey, laneMemory } from './memory.ts';

/** How to run a sync in one turn. */
export interface OneTurn<P extends Plans> {
  readonly plans: (view: View, request: SyncRequest) => P;
  readonly turn: (
    turn: Turn,
    request: SyncRequest,
    reads: PlanResults<P>,
    by: SignedIn,
  ) => SyncReply | Refused;
}

export interface SyncExecution<P extends Plans> extends OneTurn<P> {
  readonly isPlain: boolean;
  readonly steps: (workflow: Steps, request: SyncRequest) => Promise<SyncReply | Refused>;
}

type Steps = SignedInWorkflow<SyncReply>;
type NamedSync = SignedInRequest<SyncRequest>;
type KnownCommand = { readonly entry: JournalEntry };

interface CommandAttempt {
  readonly request: NamedSync;
  readonly identity: CommandIdentity;
  readonly callId: string;
}

/** Answers with the result of this attempt, or of an earlier one. */
export async function carryOut<P extends Plans>(
  workflow: Steps,
  request: NamedSync,
  sync: SyncExecution<P>,
): Promise<SyncReply | Refused> {
  const named = commandIdentityOf(request.identity ?? { id: null, digest: null });
  const identity = isLegacy(request) ? needsModernApi : named;
  // A turn gives the refusal, as it checks the session first.
  if (isRefused(identity)) return workflow.turn<never>({ turn: () => identity });
  const attempt = { request, identity, callId: workflow.callId };
  const begun = sync.isPlain ? await inOneTurn(workflow, attempt, sync) : await begin(workflow, attempt);
  const { entry, reply: answer } = begun;
  // Once there is a result, no second attempt has to be kept away.
  const release = () => begun.memory.release(begun.key, identity.hold ?? workflow.callId);
  if (answer !== undefined) {
    release();
    return answer;
  }
  if (entry === undefined) return inSteps(workflow, attempt, sync, begun);
  release();
  const reply = await replayed(workflow, entry, request.items ?? [], sync);
  return answered(reply ?? (await sync.steps(workflow, request)), identity, true);
}

/** An idle result is remembered after the turn. A turn that runs again may have seen what never became durable. */
async function inOneTurn<P extends Plans>(
  workflow: Steps,
  attempt: CommandAttempt,
  { plans, turn: run }: OneTurn<P>,
): Promise<Begun> {
  const { request, identity } = attempt;
  const done = await workflow.turn<Begun & { readonly idle?: JournalEntry }, P & CommandPlan>({
    reads: (view) => ({ ...plans(view, request), ...commandPlan(view, request, identity.id) }),
    turn: (turn, reads, by) => {
      const known = lookUp(turn, reads, by, attempt);
      if (isRefused(known)) return known;
      const begun = begunOf(turn, by, identity);
      if (known !== undefined) return { ...begun, ...known };
      const before = turn.get(head);
      const reply = run(turn, request, reads as PlanResults<P>, by);
      if (isRefused(reply)) return reply;
      const modern = reply as ModernSyncReply;
      const isIdle = turn.get(head) === before;
      if (!isIdle) journal(turn, { sessionUuid: by.session.uuid, identity, request, reply: modern });
      return {
        ...begun,
        reply: answered(reply, identity, false) as SyncReply,
        ...(isIdle && { idle: entryOf(identity.digest, request, modern) }),
      };
    },
  });
  if (done.idle !== undefined) done.memory.remember(done.key, done.idle);
  return done;
}

interface Begun {
  readonly sessionUuid: string;
  /** The memory that holds the command. */
  readonly memory: ReturnType<typeof laneMemory>;
  readonly key: string;
  /** The result of an earlier attempt. */
  readonly entry?: JournalEntry;
  /** The result of this turn. */
  readonly reply?: SyncReply;
}

const begunOf = (turn: Turn, { session }: SignedIn, { id }: CommandIdentity): Begun => ({
  sessionUuid: session.uuid,
  memory: laneMemory(turn),
  key: commandKey(session.uuid, id),
});

function begin(workflow: Steps, attempt: CommandAttempt): Promise<Begun> {
  const { request, identity, callId } = attempt;
  return workflow.turn<Begun, CommandPlan>({
    reads: (view) => commandPlan(view, request, identity.id),
    turn: (turn, reads, by) => {
      const known = lookUp(turn, reads, by, attempt);
      if (isRefused(known)) return known;
      const begun = begunOf(turn, by, identity);
      if (known !== undefined) return { ...begun, ...known };
      const isHeld = begun.memory.hold(begun.key, identity.hold ?? callId, turn.nowMs);
      return isHeld ? begun : isUnderWay;
    },
  });
}

async function inSteps<P extends Plans>(
  workflow: Steps,
  { request, identity, callId }: CommandAttempt,
  { steps }: SyncExecution<P>,
  { sessionUuid, memory, key }: Begun,
): Promise<SyncReply | Refused> {
  try {
    const reply = await steps(workflow, request);
    if (isRefused(reply)) return reply;
    const modern = reply as ModernSyncReply;
    await workflow.note({
      reads: (view) => commandPlan(view, request, identity.id),
      turn: (turn, reads) => {
        // Nobody can ask about a command of a session that has ended.
        if (findSession(turn, request.credentials) === undefined) return;
        // A repeat of this call holds the command too, and may have been faster.
        const isJournaled = findEntry(turn, reads, sessionUuid, identity.id) !== undefined;
        if (modern.saved_items.length > 0 && !isJournaled) {
          journal(turn, { sessionUuid, identity, request, reply: modern });
        }
      },
    });
    if (modern.saved_items.length === 0) memory.remember(key, entryOf(identity.digest, request, modern));
    return answered(reply, identity, false);
  } finally {
    memory.release(key, identity.hold ?? callId);
  }
}

/** What is known of the command, or why it may not run now. */
function lookUp(
  turn: Turn,
  reads: PlanResults<CommandPlan>,
  { session }: SignedIn,
  { identity: { id, digest, hold }, callId }: CommandAttempt,
): KnownCommand | Refused | undefined {
  const entry = findEntry(turn, reads, session.uuid, id);
  if (entry !== undefined) return equalInConstantTime(digest, entry.digest) ? { entry } : otherDigest;
  const holder = laneMemory(turn).holder(commandKey(session.uuid, id), turn.nowMs);
  if (hold !== undefined && holder !== hold) return holdLost;
  if (holder !== undefined && holder !== (hold ?? callId)) return isUnderWay;
  return isJournalFull(turn) ? journalFull : undefined;
}

/** Undefined: the client has to send its items again. */
function replayed<P extends Plans>(
  workflow: Pick<Steps, 'turn'>,
  entry: JournalEntry,
  sent: readonly ClientItem[] | undefined,
  { plans, turn: run }: OneTurn<P>,
): Promise<ModernSyncReply | undefined> {
  const from: SyncRequest = { ...entry.from, snjs_version: null };
  const conflicting = (view: View) =>
    keys(
      item,
      uuidsInConflict(entry).map((uuid) => ({ collection: view.self.id, uuid })),
    );
  type Read = P & { readonly conflicting: ReturnType<typeof conflicting> };
  return workflow
    .turn<{ readonly reply: ModernSyncReply | undefined }, Read>({
      reads: (view) => ({ ...plans(view, from), conflicting: conflicting(view) }),
      turn: (turn, reads, by) => {
        const pulled = run(turn, from, reads as PlanResults<P>, by);
        if (isRefused(pulled)) return pulled;
        const rows = reads.conflicting as KeysResult<typeof item>;
        const row = (uuid: string) => {
          const found = rows.get({ collection: turn.self.id, uuid });
          return found === undefined || isForwardingTombstone(found) ? undefined : found;
        };
        const again = { userUuid: turn.self.id, pulled: pulled as ModernSyncReply, row, sent };
        return { reply: replyAgain(entry, again) };
      },
    })
    .then(({ reply }) => reply);
}

/** The status of a command, with its result where that needs no items of the client. */
export async function commandStatus<P extends Plans>(
  workflow: SignedInWorkflow<CommandStatus>,
  request: SignedInRequest<{ readonly commandId: string; readonly digest?: string | null | undefined }>,
  oneTurn: OneTurn<P>,
): Promise<CommandStatus | Refused> {
  const { commandId: id, digest } = request;
  const refused = commandIdPattern.test(id) ? undefined : wrongId;
  const found = await workflow.turn<KnownCommand | { readonly status: 'accepted' | 'unknown' }, CommandPlan>({
    reads: (view) => commandPlan(view, request, id),
    turn: (turn, reads, { session }) => {
      if (refused !== undefined) return refused;
      const entry = findEntry(turn, reads, session.uuid, id);
      if (entry !== undefined) {
        return digest && !equalInConstantTime(digest, entry.digest) ? otherDigest : { entry };
      }
      const isHeld = laneMemory(turn).holder(commandKey(session.uuid, id), turn.nowMs) !== undefined;
      return { status: isHeld ? 'accepted' : 'unknown' };
    },
  });
  if ('status' in found) return { command: { id, status: found.status } };
  const { entry } = found;
  const result = await replayed(workflow, entry, undefined, oneTurn);
  const command = { id, digest: entry.digest, status: 'committed' } as const;
  return { command, ...(result !== undefined && { result }) };
}

function answered(
  reply: SyncReply | Refused,
  { id, digest }: CommandIdentity,
  isReplayed: boolean,
): SyncReply | Refused {
  if (isRefused(reply)) return reply;
  return {
    ...(reply as ModernSyncReply),
    command: { id, digest, status: 'committed', replayed: isReplayed },
  };
}
