/**
 * One timer for all published reminders of an account. It claims what is due: mails it tells to the queue, for messengers
 * it starts the job (`deliver.ts`). And what a provider took a while ago it counts as sent.
 *
 * Only a few of an account are claimed at a time, however many are due.
 */
import { type Turn, timer } from '../../../runtime/command.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { tellToRecall } from '../../mailer/outgoing.ts';
import { Messengers } from '../../messengers/messengers.ts';
import { AccountSettings } from '../../settings.ts';
import { scheduleOf } from '../schedule.ts';
import { PublishedReminders } from './contract.ts';
import {
  type DeliveryConfig,
  deliveryConfig,
  deliverySlice,
  isTurnedOn,
  ownTarget,
  setDeliveryConfig,
  targetOf,
  viaOf,
} from './delivery-config.ts';
import { isInUse, isOpen, isOpenToAll, isWanted } from './feature-flags.ts';
import { mailIdOf, mailReminder } from './messages.ts';
import {
  accepted,
  backInQueue,
  claimed,
  failed,
  isMailQueued,
  type PublishedReminder,
  publishedReminderMap,
  sent,
  uncertain,
} from './published-reminder.ts';

const { watchDeliveries } = PublishedReminders.timers;
const { deliverReminders } = PublishedReminders.jobs;

/** With the mail queue, and with the job: each of them works on one at a time. */
const claimsMax = 20;
/** The most in one run of the timer. */
const dueMax = 50;
/** How often what the operator has to change is tried again. */
const pauseMs = 15 * 60_000;
const askAgainMs = 60_000;

const schedule = scheduleOf<PublishedReminder>({
  map: publishedReminderMap,
  keyOf: ({ id }) => id,
  timer: watchDeliveries,
  nextMs: nextWatchMs,
  recall: dropMail,
});

export const { arm: armNext } = schedule;
const { all } = schedule;

/** Changes the watch alone. A caller that changes several reminders arms the timer after the last. */
export function put(turn: Turn, reminder: PublishedReminder): void {
  turn.setEntry(publishedReminderMap, reminder.id, { ...reminder, updatedAtMs: turn.nowMs });
}

export function setReminder(turn: Turn, reminder: PublishedReminder): void {
  put(turn, reminder);
  armNext(turn);
}

export const acceptedNow = (turn: Turn, reminder: PublishedReminder): PublishedReminder =>
  accepted(reminder, turn.nowMs, turn.nowMs + turn.use(AccountSettings).reminderDeliveryIntervalMs);

// --- the timer ------------------------------------------------------------------------------------------------

function nextWatchMs(turn: Turn): (reminder: PublishedReminder) => number | undefined {
  const room = roomOf(all(turn));
  const mayLeave = isInUse(turn) && isWanted(turn) && isTurnedOn(turn);
  const { heldUntilMs } = turn.get(deliverySlice);
  const openMs = isOpenToAll(turn) ? 0 : turn.nowMs + pauseMs;
  return (each) => {
    if (each.state === 'accepted' || isAskedBack(each)) return each.nextAtMs;
    const isNext = each.state === 'queued' && mayLeave && room[viaOf(each, turn)] > 0;
    return isNext ? Math.max(each.nextAtMs, heldUntilMs, openMs) : undefined;
  };
}

function roomOf(reminders: readonly PublishedReminder[]): { mail: number; messenger: number } {
  const room = { mail: claimsMax, messenger: claimsMax };
  for (const { state, via } of reminders) {
    if ((state === 'claimed' || state === 'in-flight') && via !== null) room[via] -= 1;
  }
  return room;
}

export const watchDeliveriesTimer = timer({
  ...watchDeliveries,
  missed: 'fire-once',
  turn: (turn) => {
    for (const each of all(turn)) {
      if (turn.nowMs < each.nextAtMs) continue;
      if (each.state === 'accepted') put(turn, sent(each));
      if (isAskedBack(each)) askBack(turn, each);
    }
    if (mayClaim(turn)) claimDue(turn);
    armNext(turn);
  },
});

const mayClaim = (turn: Turn): boolean =>
  isOpen(turn) && isTurnedOn(turn) && turn.nowMs >= turn.get(deliverySlice).heldUntilMs;

function claimDue(turn: Turn): void {
  const reminders = all(turn);
  const config = deliveryConfig(turn);
  const room = roomOf(reminders);
  const due = reminders
    .filter(({ state, nextAtMs }) => state === 'queued' && turn.nowMs >= nextAtMs)
    .filter((each) => room[viaOf(each, turn)] > 0)
    .toSorted((a, b) => a.dueAtMs - b.dueAtMs || (a.id < b.id ? -1 : 1))
    .slice(0, dueMax);
  for (const each of due) {
    const via = viaOf(each, turn);
    if (room[via] > 0 && claim(turn, each, config)) room[via] -= 1;
  }
}

function claim(turn: Turn, reminder: PublishedReminder, config: DeliveryConfig | null): boolean {
  const target = targetOf(ownTarget(turn, reminder), config);
  const isAble =
    target !== undefined && (target.channel === 'email' || turn.use(Messengers).has(target.channel));
  if (target === undefined || !isAble) {
    put(turn, { ...reminder, nextAtMs: turn.nowMs + pauseMs, error: 'not-configured' });
    return false;
  }
  if (target.channel === 'email') {
    const mailed = claimed(reminder, 'mail');
    put(turn, mailed);
    mailReminder(turn, mailed, target.destination);
  } else {
    put(turn, claimed(reminder, 'messenger'));
    turn.start(deliverReminders, null);
  }
  return true;
}

// --- mails ----------------------------------------------------------------------------------------------------

export function publishedMailOutcome(turn: Turn, uuid: string, round: number, outcome: MailOutcome): void {
  const reminder = schedule.find(turn, uuid, round);
  if (reminder?.via !== 'mail') return;
  // Also of one that was given up, where an administrator has tried it again.
  if (outcome.outcome === 'accepted' && reminder.acceptedAtMs === null) {
    setReminder(turn, { ...acceptedNow(turn, reminder), attempts: outcome.attempts });
  } else if (reminder.state === 'claimed') {
    setReminder(turn, { ...afterOutcome(turn, reminder, outcome), attempts: outcome.attempts });
  }
}

function afterOutcome(turn: Turn, reminder: PublishedReminder, told: MailOutcome): PublishedReminder {
  const nextAtMs = Math.max(reminder.dueAtMs, told.nextAttemptAtMs ?? turn.nowMs);
  switch (told.outcome) {
    case 'recalled':
      return backInQueue(reminder, Math.max(reminder.dueAtMs, turn.nowMs));
    case 'refused':
      return backInQueue(
        reminder,
        nextAtMs,
        told.refusal === 'not-configured' ? 'not-configured' : 'transient',
      );
    case 'failed': {
      // It was being sent when it was to be called back, or a feature flag was turned off since.
      const tried = reminder.isRecalled || !isOpen(turn) ? askedBack(turn, reminder) : reminder;
      return { ...tried, error: told.failure === 'timeout' ? 'timeout' : 'transient' };
    }
    default:
      if (told.failure === 'timeout') return uncertain(reminder);
      return failed(reminder, told.failure === 'rejected' ? 'rejected' : 'transient');
  }
}

// --- when nothing may leave -------------------------------------------------------------------------------------

const isAskedBack = (reminder: PublishedReminder): boolean => isMailQueued(reminder) && reminder.isRecalled;

/** The queue tells of a mail that it gave back. It keeps what it is sending, and is asked again in case that came to nothing. */
function askedBack(turn: Turn, reminder: PublishedReminder): PublishedReminder {
  tellToRecall(turn, mailIdOf(reminder));
  return { ...reminder, isRecalled: true, nextAtMs: turn.nowMs + askAgainMs };
}

const askBack = (turn: Turn, reminder: PublishedReminder): void => put(turn, askedBack(turn, reminder));

/** Nobody outside has heard of what is claimed: mails are asked back, and the job finds that the rest is not its own. */
export function pauseDeliveries(turn: Turn): void {
  for (const each of all(turn)) {
    if (isMailQueued(each)) askBack(turn, each);
    else if (each.state === 'claimed') put(turn, backInQueue(each, turn.nowMs));
    else if (each.state === 'failed') dropMail(turn, each);
  }
  armNext(turn);
}

/** The user has turned the feature flag on or off. */
export function applyGate(turn: Turn): void {
  if (isWanted(turn)) armNext(turn);
  else pauseDeliveries(turn);
}

/** An administrator could try it again that has failed. */
export function dropMail(turn: Turn, reminder: PublishedReminder): void {
  if (reminder.via === 'mail' && reminder.acceptedAtMs === null) tellToRecall(turn, mailIdOf(reminder));
}

/** Everything published, where it goes, and what the queue still has of it. */
export function forgetDeliveries(turn: Turn): void {
  schedule.forget(turn);
  setDeliveryConfig(turn, null);
  turn.stop(deliverReminders);
}
