/**
 * One attempt to send one mail: the turns of a worker.
 *
 *     take       the next mail that is ready, and a relay that may send now: leased, and counted for the relay
 *     hand over  committed before the first byte of the message leaves
 *     conclude   records the result: accepted, another relay, another time, or dead; takes the next mail in the same commit
 *     recover    takes over a mail that a dead process had leased
 *
 * After a crash between `take` and `hand over` no relay has anything of the mail, so it is sent again at once. After a crash
 * between `hand over` and `conclude` the relay may have all of it. Sources that allow it have the mail sent again under the same
 * `Message-ID`; any other mail is dead, so that an administrator decides. A mail that its source has recalled meanwhile
 * (`recalled.ts`) is given back instead of tried again.
 */
import { keys, type PlanResults, range, type Turn, type View } from '../../runtime/command.ts';
import { AccountSettings } from '../settings.ts';
import type { MailFailure } from './contract.ts';
import { logAttempt } from './log-table.ts';
import { listenerOf, tellOutcome, tellRecalled } from './outcome.ts';
import {
  asMail,
  isReady,
  type MailRow,
  mailKey,
  mailTable,
  queueSlice,
  readyState,
  writeMail,
} from './queue-table.ts';
import { forgetUnwanted, isUnwanted } from './recalled.ts';
import { chooseRelay, countAttempt, goesToNext, pauseRelay, resumeRelay } from './relay-use.ts';
import { credentialOf, type Relay } from './relays.ts';
import type { SendResult } from './sender.ts';
import { rulesOf, waitMsAfter } from './sources.ts';
import {
  isLarge,
  maySend,
  runWorker,
  setMail,
  sleepUntil,
  startWorker,
  startWorkers,
  stopWorker,
  workersSlice,
} from './workers.ts';

/** Longer than any attempt, which is given up before. */
export const leaseMs = 120_000;
/** A restart within this time may have changed the relay that the settings name. */
const sleepMaxMs = 3_600_000;
const closedMs = 900_000;
/** More rows than there are workers, as other workers may have just taken the first of them. */
const readyRows = 8;
/** Bytes of one read, at most, not counting its last row. */
const readyBytes = 1_048_576;

export interface LeasedMail {
  readonly startedAtMs: number;
  /** The ids of the relays that this attempt has tried. */
  readonly tried: readonly string[];
  readonly mail: MailRow & { readonly message_id: string; readonly content: Buffer };
  readonly relay: Relay;
  readonly credential: string | undefined;
}

export const readyPlan = (view: View) => {
  const ready = {
    after: 0,
    through: view.get(queueSlice).position,
    limit: readyRows,
    budgetBytes: readyBytes,
  };
  return {
    urgent: range(mailTable, { ...ready, subset: 'urgent' }),
    ordinary: range(mailTable, { ...ready, subset: 'ordinary' }),
    bulk: range(mailTable, { ...ready, subset: 'bulk' }),
  };
};
type ReadyReads = PlanResults<ReturnType<typeof readyPlan>>;

export const leasedPlan = (view: View, worker: number) => {
  const id = view.get(workersSlice).running[worker] ?? '';
  return { leased: keys(mailTable, [mailKey(view, id)]) };
};
type LeasedReads = PlanResults<ReturnType<typeof leasedPlan>>;

/** The next of these rows that is still ready. A mail behind a large one waits until `largeMailWorker` has taken that. */
const nextReady = (worker: number, { urgent, ordinary, bulk }: ReadyReads): MailRow | undefined =>
  [urgent.rows[0], ordinary.rows[0], bulk.rows[0]]
    .map(asMail)
    .find((mail) => mail !== undefined && maySend(worker, mail));

/** Other workers may have just taken every row that was read, and more rows may follow. */
const isMoreBehind = ({ urgent, ordinary, bulk }: ReadyReads): boolean =>
  [urgent, ordinary, bulk].some(({ rows, complete }) => rows.length === 0 && !complete);

/** Undefined if there is nothing to do for this worker, `again` if there may be. */
export function take(turn: Turn, worker: number, reads: ReadyReads): LeasedMail | 'again' | undefined {
  const mail = nextReady(worker, reads);
  if (mail === undefined) return isMoreBehind(reads) ? 'again' : undefined;
  if (isExpired(turn, mail)) die(turn, mail, mail, 'expired');
  else if (isClosed(turn, mail)) requeue(turn, mail, mail, { failure: mail.failure, waitMs: closedMs });
  else return lease(turn, worker, mail, []);
  return 'again';
}

/** The operator has turned this source off since the mail was queued. The mail's owner is told, and recalls the mail. */
const isClosed = (turn: Turn, { source }: MailRow): boolean =>
  source === 'published-reminder' && !turn.use(AccountSettings).reminderDelivery;

/** The worker found nothing to do. It ends unless a mail has come meanwhile. */
export function endWorker(turn: Turn, worker: number, reads: ReadyReads): void {
  const isMore = nextReady(worker, reads) !== undefined || isMoreBehind(reads);
  const choice = chooseRelay(turn);
  stopWorker(turn, worker);
  if (!isMore) return;
  if ('relay' in choice) runWorker(turn, worker);
  else sleepUntil(turn, Math.min(choice.waitUntilMs, turn.nowMs + sleepMaxMs));
}

function lease(turn: Turn, worker: number, mail: MailRow, tried: readonly string[]): LeasedMail | undefined {
  const choice = chooseRelay(turn, tried);
  if (!('relay' in choice) || mail.content === null) return undefined;
  const { relay } = choice;
  countAttempt(turn, relay);
  setMail(turn, worker, mail.id);
  const leased = writeMail(turn, mail, {
    ...mail,
    state: 'leased',
    next_attempt_at: null,
    lease_ends_at: turn.nowMs + leaseMs,
    handed_over: false,
    relay: relay.id,
    message_id: mail.message_id ?? `<${turn.random.uuid()}@${domainOf(relay)}>`,
  });
  return {
    mail: leased as LeasedMail['mail'],
    relay,
    credential: credentialOf(turn, relay),
    startedAtMs: turn.nowMs,
    tried: [...tried, relay.id],
  };
}

const domainOf = ({ from: { address } }: Relay): string => address.slice(address.lastIndexOf('@') + 1);

/** @throws Error when the mail is not this worker's any more */
export function handOver(turn: Turn, worker: number, reads: LeasedReads): void {
  const mail = leasedMail(turn, worker, reads);
  if (mail === undefined) throw new Error('the mail is not leased to this worker');
  writeMail(turn, mail, { ...mail, handed_over: true });
}

/** Records the result. Answers another relay for the same attempt, or undefined if the attempt is over. */
export function conclude({
  turn,
  worker,
  leased: { relay, startedAtMs, tried },
  result,
  reads,
}: {
  readonly turn: Turn;
  readonly worker: number;
  readonly leased: LeasedMail;
  readonly result: SendResult;
  readonly reads: LeasedReads;
}): LeasedMail | undefined {
  const mail = leasedMail(turn, worker, reads);
  setMail(turn, worker, null);
  if (mail === undefined) return undefined;
  // Other workers have left the mails behind this one.
  if (isLarge(mail)) startWorkers(turn);
  const attempted = { queueId: mail.id, relay, source: mail.source, attempt: mail.attempts + 1, startedAtMs };
  logAttempt(turn, attempted, result);
  if (result.result === 'unable') pauseRelay(turn, relay);
  else if (result.result !== 'uncertain') resumeRelay(turn, relay);
  switch (result.result) {
    case 'sent':
      return accept(turn, mail, result.lacksAttachment);
    case 'rejected':
      return die(turn, mail, counted(mail), result.failure);
    case 'uncertain':
      return uncertain(turn, mail, result.failure);
    case 'unable':
      return next(turn, worker, mail, tried) ?? requeue(turn, mail, mail, { failure: result.failure });
    case 'transient':
      return next(turn, worker, mail, tried) ?? retry(turn, mail, result.failure);
  }
}

const next = (turn: Turn, worker: number, mail: MailRow, tried: readonly string[]): LeasedMail | undefined =>
  goesToNext(turn) && !isUnwanted(turn, mail.id) ? lease(turn, worker, mail, tried) : undefined;

export function recover(turn: Turn, worker: number, reads: LeasedReads): void {
  const mail = leasedMail(turn, worker, reads);
  setMail(turn, worker, null);
  if (mail === undefined) return;
  if (!mail.handed_over) requeue(turn, mail, counted(mail), { failure: mail.failure });
  else if (rulesOf(mail.source).repeatsUncertain) requeue(turn, mail, counted(mail), { failure: 'timeout' });
  else die(turn, mail, counted(mail), 'timeout');
}

/** The mail is due for its next attempt, or for its end. */
export function becomeDue(turn: Turn, mail: MailRow | undefined): void {
  if (mail === undefined || !isReady(mail)) return;
  if (isExpired(turn, mail)) {
    die(turn, mail, mail, 'expired');
    return;
  }
  if (mail.state === 'waiting') writeMail(turn, mail, { ...mail, state: readyState(mail.source) });
  startWorker(turn);
}

function leasedMail(turn: Turn, worker: number, { leased }: LeasedReads): MailRow | undefined {
  const id = turn.get(workersSlice).running[worker] ?? '';
  const mail = asMail(leased.get(mailKey(turn, id)));
  return mail?.state === 'leased' ? mail : undefined;
}

export const isExpired = ({ nowMs }: Turn, { expires_at }: MailRow): boolean =>
  expires_at !== null && nowMs >= expires_at;

const counted = (mail: MailRow): MailRow => ({ ...mail, attempts: mail.attempts + 1 });

function accept(turn: Turn, before: MailRow, lacksAttachment = false): undefined {
  const changed = { ...counted(before), state: 'accepted' as const, failure: null, next_attempt_at: null };
  tell(turn, write(turn, before, changed), 'accepted', lacksAttachment);
}

function retry(turn: Turn, before: MailRow, failure: MailFailure): undefined {
  const changed = counted(before);
  const waitMs = waitMsAfter(rulesOf(before.source), changed.attempts);
  if (waitMs === undefined) return die(turn, before, changed, failure);
  return requeue(turn, before, changed, { failure, waitMs });
}

function uncertain(turn: Turn, before: MailRow, failure: MailFailure): undefined {
  if (rulesOf(before.source).repeatsUncertain) return retry(turn, before, failure);
  return die(turn, before, counted(before), failure);
}

interface NextAttempt {
  readonly failure: MailFailure | null;
  /** Absent if the mail may be tried again at once, as it is not to blame. */
  readonly waitMs?: number;
}

function requeue(turn: Turn, before: MailRow, changed: MailRow, { failure, waitMs }: NextAttempt): undefined {
  if (isUnwanted(turn, before.id)) return recallUnsent(turn, before, changed);
  const nextAttemptAtMs = turn.nowMs + (waitMs ?? 0);
  if (before.expires_at !== null && nextAttemptAtMs >= before.expires_at) {
    return die(turn, before, changed, 'expired');
  }
  const state = waitMs === undefined ? readyState(before.source) : 'waiting';
  const handed_over = false;
  const mail = write(turn, before, {
    ...changed,
    state,
    failure,
    handed_over,
    next_attempt_at: nextAttemptAtMs,
  });
  if (state === 'waiting') tell(turn, mail, 'failed');
}

function recallUnsent(turn: Turn, before: MailRow, { attempts }: MailRow): undefined {
  write(turn, before, { ...before, attempts, state: 'recalled', next_attempt_at: null, listener: null });
  tellRecalled(turn, { ...before, attempts });
}

function die(turn: Turn, before: MailRow, changed: MailRow, failure: MailFailure): undefined {
  // Not even an administrator sends a mail that has expired, or one that its source has recalled.
  const content = failure === 'expired' || isUnwanted(turn, before.id) ? null : before.content;
  tell(
    turn,
    write(turn, before, { ...changed, state: 'dead', failure, content, next_attempt_at: null }),
    'dead',
  );
}

function write(turn: Turn, before: MailRow, changed: MailRow): MailRow {
  forgetUnwanted(turn, before.id);
  return writeMail(turn, before, { ...changed, lease_ends_at: null });
}

function tell(
  turn: Turn,
  mail: MailRow,
  outcome: 'accepted' | 'failed' | 'dead',
  lacksAttachment = false,
): void {
  const { id, attempts, failure, next_attempt_at, message_id } = mail;
  tellOutcome(turn, listenerOf(mail.listener), {
    id,
    outcome,
    attempts,
    failure,
    nextAttemptAtMs: next_attempt_at,
    messageId: message_id ?? undefined,
    ...(lacksAttachment && { lacksAttachment }),
  });
}
