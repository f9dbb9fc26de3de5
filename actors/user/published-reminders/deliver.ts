/**
 * The job of an account that hands its reminders to messengers, one after another:
 *
 *     recover     what an earlier run left in flight: it is unknown whether that arrived
 *     next        the oldest that is claimed
 *     hand over   once the provider has room, and before it hears anything: flag, configuration and round are
 *                 checked again, and `in-flight` is committed
 *     conclude    the result
 */
import { type JobRun, job, type Turn } from '../../../runtime/command.ts';
import { type MessengerChannel, type MessengerResult, Messengers } from '../../messengers/messengers.ts';
import { AccountSettings } from '../../settings.ts';
import { endOfDayMs } from '../../times.ts';
import { PublishedReminders } from './contract.ts';
import {
  countMessage,
  deliveryConfig,
  deliveryTargetOf,
  isSameTarget,
  mayDeliver,
  ownTarget,
} from './delivery-config.ts';
import {
  backInQueue,
  deliveredText,
  failed,
  inFlight,
  type PublishedReminder,
  publishedReminderMap,
  reminderAfterFailure,
  uncertain,
} from './published-reminder.ts';
import { acceptedNow, armNext, putReminder, setReminder } from './watch.ts';

const { deliverReminders } = PublishedReminders.jobs;

const minuteMs = 60_000;
/** A run ends after this. An account with very many reminders needs several. */
const runMs = 5 * minuteMs;
/** The last hand-over of a run may wait a minute for room. */
const timeoutMs = runMs + 2 * minuteMs;
/** The pause before the next attempt, if the provider names none. */
const busyMs = minuteMs;
/** Messages that failed at the same moment do not come back at the same moment. */
const spreadMs = 4 * minuteMs;
const notConfiguredMs = 15 * minuteMs;

/** What a run knows of a reminder. With another round, the reminder is no longer this run's. */
interface DeliveryClaim {
  readonly id: string;
  readonly uuid: string;
  readonly round: number;
  readonly channel: MessengerChannel;
  readonly destination: string;
  readonly text: string;
}

export const deliverRemindersJob = job(deliverReminders, {
  timeoutMs,
  run: async (run) => {
    const untilMs = run.nowMs + runMs;
    await run.turn({ turn: recover });
    while (run.nowMs < untilMs) {
      const claim = await run.turn({ turn: nextClaim });
      if (claim === undefined) return run.finish();
      await send(run, claim);
    }
    return run.finish({ turn: (turn) => turn.start(deliverReminders, null) });
  },
});

async function send(run: JobRun, claim: DeliveryClaim): Promise<void> {
  const { channel, destination, text } = claim;
  const markInFlight = () => run.turn({ turn: (turn) => tryMarkInFlight(turn, claim) });
  const { signal } = run;
  const result = await run.use(Messengers).send({ channel, destination, text, markInFlight, signal });
  // A run that must stop concludes nothing. The next run finds the reminder in flight.
  signal.throwIfAborted();
  await run.turn({ turn: (turn) => conclude(turn, claim, result) });
}

function recover(turn: Turn): void {
  for (const each of turn.entries(publishedReminderMap).values()) {
    if (each.state === 'in-flight') putReminder(turn, uncertain(each));
  }
}

function nextClaim(turn: Turn): DeliveryClaim | undefined {
  const config = deliveryConfig(turn);
  const mine = [...turn.entries(publishedReminderMap).values()]
    .filter(({ state, via }) => state === 'claimed' && via === 'messenger')
    .toSorted((a, b) => a.dueAtMs - b.dueAtMs);
  for (const each of mine) {
    const target = deliveryTargetOf(ownTarget(turn, each), config);
    if (mayDeliver(turn) && target !== undefined && target.channel !== 'email') {
      const { id, uuid, round } = each;
      const { channel, destination } = target;
      return { id, uuid, round, channel, destination, text: deliveredText(turn, each) };
    }
    setReminder(turn, backInQueue(each, turn.nowMs));
  }
  return undefined;
}

function held(turn: Turn, { id, uuid, round }: DeliveryClaim): PublishedReminder | undefined {
  const reminder = turn.entry(publishedReminderMap, id);
  const isMine = reminder?.uuid === uuid && reminder.round === round;
  return isMine && ['claimed', 'in-flight'].includes(reminder.state) ? reminder : undefined;
}

function tryMarkInFlight(turn: Turn, claim: DeliveryClaim): boolean {
  const reminder = held(turn, claim);
  if (reminder?.state !== 'claimed') return false;
  const target = deliveryTargetOf(ownTarget(turn, reminder), deliveryConfig(turn));
  if (!mayDeliver(turn) || !isSameTarget(target, claim)) {
    setReminder(turn, backInQueue(reminder, turn.nowMs));
    return false;
  }
  if (!countMessage(turn, turn.use(AccountSettings).reminderMessagesPerDay)) {
    setReminder(turn, backInQueue(reminder, endOfDayMs(turn.nowMs), 'transient'));
    return false;
  }
  putReminder(turn, inFlight(reminder));
  return true;
}

function conclude(turn: Turn, claim: DeliveryClaim, result: MessengerResult): void {
  const reminder = held(turn, claim);
  if (reminder === undefined || result.result === 'withdrawn') return;
  putReminder(turn, after(turn, reminder, result));
  armNext(turn);
}

function after(
  turn: Turn,
  reminder: PublishedReminder,
  result: Exclude<MessengerResult, { readonly result: 'withdrawn' }>,
): PublishedReminder {
  switch (result.result) {
    case 'accepted':
      return acceptedNow(turn, reminder);
    case 'rejected':
      return failed(reminder, 'rejected');
    case 'uncertain':
      return uncertain(reminder);
    case 'transient':
      return reminderAfterFailure(reminder, turn.nowMs, result.failure);
    case 'unable': {
      const { failure } = result;
      const usualMs = failure === 'not-configured' ? notConfiguredMs : busyMs;
      const waitMs = Math.max(usualMs, result.retryAfterMs ?? 0) + spread(turn);
      return backInQueue(reminder, turn.nowMs + waitMs, failure);
    }
  }
}

const spread = (turn: Turn): number => (turn.random.bytes(4).readUInt32LE() / 2 ** 32) * spreadMs;
