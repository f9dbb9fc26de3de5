/**
 * The timer of all published reminders of an account. It claims those that are due: it tells the mail queue of mails, and
 * starts the job for messengers (`deliver.ts`). It also counts as sent what a provider took a while ago.
 *
 * Only a few reminders of an account are claimed at a time, even if many are due.
 */
import { type Turn, timer } from '../../../runtime/command.ts';
import type { MailOutcome } from '../../mailer/contract.ts';
import { Messengers } from '../../messengers/messengers.ts';
import { AccountSettings } from '../../settings.ts';
import { reminderDelivery } from '../feature-flags.ts';
import { isInUse } from '../profile.ts';
import { scheduleOf } from '../schedule.ts';
import { PublishedReminders } from './contract.ts';
import {
  type DeliveryConfig,
  deliveryConfig,
  deliverySlice,
  deliveryTargetOf,
  isDeliveryOn,
  isTurnedOn,
  mayDeliver,
  ownTarget,
  setDeliveryConfig,
  viaOf,
} from './delivery-config.ts';
import {
  accepted,
  backInQueue,
  claimed,
  deliveredText,
  failed,
  isMailQueued,
  type PublishedReminder,
  publishedReminderMap,
  sent,
  uncertain,
} from './published-reminder.ts';

const { watchDeliveries } = PublishedReminders.timers;
const { deliverReminders } = PublishedReminders.jobs;

/** The most claims of the mail queue, and of the job. Each works on one at a time. */
const claimsMax = 20;
/** The most due reminders in one run of the timer. */
const dueMax = 50;
/** How often to try again what only the operator can change. */
const pauseMs = 15 * 60_000;

const schedule = scheduleOf<PublishedReminder>({
  name: 'published',
  map: publishedReminderMap,
  keyOf: ({ id }) => id,
  timer: watchDeliveries,
  nextMs: nextWatchMs,
  recall: dropMail,
});

export const { arm: armNext, mailIdOf } = schedule;
const { all } = schedule;

/** Does not arm the timer. A caller that changes several reminders arms it after the last. */
export function putReminder(turn: Turn, reminder: PublishedReminder): void {
  turn.setEntry(publishedReminderMap, reminder.id, { ...reminder, updatedAtMs: turn.nowMs });
}

export function setReminder(turn: Turn, reminder: PublishedReminder): void {
  putReminder(turn, reminder);
  armNext(turn);
}

export const acceptedNow = (turn: Turn, reminder: PublishedReminder): PublishedReminder =>
  accepted(reminder, turn.nowMs, turn.nowMs + turn.use(AccountSettings).reminderDeliveryIntervalMs);

// --- the timer ------------------------------------------------------------------------------------------------

function nextWatchMs(turn: Turn): (reminder: PublishedReminder) => number | undefined {
  const free = freeClaims(all(turn));
  const mayLeave = isInUse(turn) && reminderDelivery.isTurnedOn(turn) && isTurnedOn(turn);
  const { heldUntilMs } = turn.get(deliverySlice);
  const openMs = reminderDelivery.isOffered(turn) ? 0 : turn.nowMs + pauseMs;
  return (each) => {
    if (each.state === 'accepted' || isRecalled(each)) return each.nextAtMs;
    const isNext = each.state === 'queued' && mayLeave && free[viaOf(each, turn)] > 0;
    return isNext ? Math.max(each.nextAtMs, heldUntilMs, openMs) : undefined;
  };
}

function freeClaims(reminders: readonly PublishedReminder[]): { mail: number; messenger: number } {
  const free = { mail: claimsMax, messenger: claimsMax };
  for (const { state, via } of reminders) {
    if ((state === 'claimed' || state === 'in-flight') && via !== null) free[via] -= 1;
  }
  return free;
}

export const watchDeliveriesTimer = timer(watchDeliveries, (turn) => {
  for (const each of all(turn)) {
    if (turn.nowMs < each.nextAtMs) continue;
    if (each.state === 'accepted') putReminder(turn, sent(each));
    if (isRecalled(each)) askBack(turn, each);
  }
  if (mayClaim(turn)) claimDue(turn);
  armNext(turn);
});

const mayClaim = (turn: Turn): boolean =>
  mayDeliver(turn) && turn.nowMs >= turn.get(deliverySlice).heldUntilMs;

function claimDue(turn: Turn): void {
  const reminders = all(turn);
  const config = deliveryConfig(turn);
  const free = freeClaims(reminders);
  const due = reminders
    .filter(({ state, nextAtMs }) => state === 'queued' && turn.nowMs >= nextAtMs)
    .filter((each) => free[viaOf(each, turn)] > 0)
    .toSorted((a, b) => a.dueAtMs - b.dueAtMs || (a.id < b.id ? -1 : 1))
    .slice(0, dueMax);
  for (const each of due) {
    const via = viaOf(each, turn);
    if (free[via] > 0 && claim(turn, each, config)) free[via] -= 1;
  }
}

function claim(turn: Turn, reminder: PublishedReminder, config: DeliveryConfig | null): boolean {
  const target = deliveryTargetOf(ownTarget(turn, reminder), config);
  const isAble =
    target !== undefined && (target.channel === 'email' || turn.use(Messengers).isConfigured(target.channel));
  if (target === undefined || !isAble) {
    putReminder(turn, { ...reminder, nextAtMs: turn.nowMs + pauseMs, error: 'not-configured' });
    return false;
  }
  if (target.channel === 'email') {
    const mailed = claimed(reminder, 'mail');
    putReminder(turn, mailed);
    const text = `${deliveredText(turn, mailed)}\n`;
    const recipient = target.destination;
    schedule.mail(turn, mailed, { source: 'published-reminder', recipient, subject: 'Reminder', text });
  } else {
    putReminder(turn, claimed(reminder, 'messenger'));
    turn.start(deliverReminders, null);
  }
  return true;
}

// --- mails ----------------------------------------------------------------------------------------------------

export function publishedMailOutcome(turn: Turn, uuid: string, round: number, outcome: MailOutcome): void {
  const reminder = schedule.find(turn, uuid, round);
  if (reminder?.via !== 'mail') return;
  // A reminder that was given up may be accepted too, if an administrator tried it again.
  if (outcome.outcome === 'accepted' && reminder.acceptedAtMs === null) {
    setReminder(turn, { ...acceptedNow(turn, reminder), attempts: outcome.attempts });
  } else if (reminder.state === 'claimed') {
    setReminder(turn, { ...afterOutcome(turn, reminder, outcome), attempts: outcome.attempts });
  }
}

function afterOutcome(turn: Turn, reminder: PublishedReminder, outcome: MailOutcome): PublishedReminder {
  const nextAtMs = Math.max(reminder.dueAtMs, outcome.nextAttemptAtMs ?? turn.nowMs);
  switch (outcome.outcome) {
    case 'recalled':
      return backInQueue(reminder, Math.max(reminder.dueAtMs, turn.nowMs));
    case 'refused':
      return backInQueue(
        reminder,
        nextAtMs,
        outcome.refusal === 'not-configured' ? 'not-configured' : 'transient',
      );
    case 'failed': {
      // It was recalled while it was being sent, or delivery was turned off since.
      const tried =
        reminder.isRecalled || !isDeliveryOn(turn) ? schedule.markRecalled(turn, reminder) : reminder;
      return { ...tried, error: outcome.failure === 'timeout' ? 'timeout' : 'transient' };
    }
    default:
      if (outcome.failure === 'timeout') return uncertain(reminder);
      return failed(reminder, outcome.failure === 'rejected' ? 'rejected' : 'transient');
  }
}

// --- when nothing may leave -------------------------------------------------------------------------------------

const isRecalled = (reminder: PublishedReminder): boolean => isMailQueued(reminder) && reminder.isRecalled;

const askBack = (turn: Turn, reminder: PublishedReminder): void =>
  putReminder(turn, schedule.markRecalled(turn, reminder));

/**
 * Nobody outside has heard of what is claimed. The queue is asked for the mails, and the job finds that the others are not its
 * own any more.
 */
export function pauseDeliveries(turn: Turn): void {
  for (const each of all(turn)) {
    if (isMailQueued(each)) askBack(turn, each);
    else if (each.state === 'claimed') putReminder(turn, backInQueue(each, turn.nowMs));
    else if (each.state === 'failed') dropMail(turn, each);
  }
  armNext(turn);
}

/** The user has turned the feature on or off. */
export function applyGate(turn: Turn): void {
  if (reminderDelivery.isTurnedOn(turn)) armNext(turn);
  else pauseDeliveries(turn);
}

/** An administrator could try a failed mail again. */
export function dropMail(turn: Turn, reminder: PublishedReminder): void {
  if (reminder.via === 'mail' && reminder.acceptedAtMs === null) schedule.recallMail(turn, reminder);
}

/** Forgets all reminders and the configuration, and recalls what the queue has of them. */
export function forgetDeliveries(turn: Turn): void {
  schedule.forget(turn);
  setDeliveryConfig(turn, null);
  turn.stop(deliverReminders);
}
