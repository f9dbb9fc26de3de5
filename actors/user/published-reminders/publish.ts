/**
 * The commands for published reminders (docs/protocol/delivery.md, "Published reminders"). A command that changes or removes an
 * occurrence first asks the mail queue to give back its mail (`recall.ts`). It then decides by the state after that.
 */
import type { Turn, View } from '../../../runtime/command.ts';
import { isMailConfigured } from '../../mailer/outgoing.ts';
import { Messengers } from '../../messengers/messengers.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { isoTime } from '../../times.ts';
import { audit } from '../audit/trail.ts';
import { reminderDelivery } from '../feature-flags.ts';
import { putSetting } from '../settings/stored.ts';
import { type SignedInWorkflow, signedInRead, signedInWorkflow } from '../signed-in.ts';
import { type PublishedReminderResponse, PublishedReminders } from './contract.ts';
import {
  type DeliveryConfig,
  deliveryConfig,
  deliveryTargetOf,
  inherits,
  isSameTarget,
  ownTarget,
  setDeliveryConfig,
} from './delivery-config.ts';
import { type ReminderInput, readConfig, readReminder } from './input.ts';
import {
  backInQueue,
  begun,
  contentsOf,
  isDispatched,
  isInFlight,
  isMailQueued,
  isRecallable,
  mayHaveArrived,
  type PublishedReminder,
  publishedReminderMap,
  publishedRemindersMax,
  sealedContents,
} from './published-reminder.ts';
import { applyAnswers, markRecalled, type Recall, recallMail } from './recall.ts';
import { armNext, dropMail, forgetDeliveries, putReminder } from './watch.ts';

const unknown = refuse.notFound('There is no such reminder.', 'reminder-not-found');
const tooMany = refuse.conflict(
  `There are ${publishedRemindersMax} published reminders already. Delete one first.`,
  'reminder-limit',
);
const notRecallable = refuse.conflict(
  'This reminder is being sent, or may have arrived already.',
  'reminder-not-recallable',
);
const alreadyAccepted = refuse.conflict(
  'A reminder has just left for the old destination.',
  'delivery-accepted',
);
/** Longer than a provider may take. */
const beingSent = refuse.conflict('A reminder is being sent at this moment.', 'delivery-in-flight', {
  retryAfterMs: 15_000,
});

const all = (view: View): readonly PublishedReminder[] => [...view.entries(publishedReminderMap).values()];

/** A repeat of the call gets here what its last turn recorded. This turn writes nothing, so nothing is recorded for it. */
const answerRepeat = (workflow: Pick<SignedInWorkflow<unknown>, 'turn'>): Promise<unknown> =>
  workflow.turn({ recorded: true, turn: () => ({}) });

/** Chooses reminders in a turn, and asks the queue to give back their mails. The last turn of the command applies the answers. */
async function recallChosen(
  workflow: Pick<SignedInWorkflow<unknown>, 'turn' | 'actors' | 'self'>,
  chosen: (turn: Turn) => readonly PublishedReminder[] | Refused,
): Promise<readonly Recall[]> {
  const mails = await workflow.turn({
    turn: (turn) => {
      const reminders = chosen(turn);
      return isRefused(reminders) ? reminders : markRecalled(turn, reminders);
    },
  });
  return recallMail(workflow.actors, workflow.self.id, mails);
}

// --- feature flags ----------------------------------------------------------------------------------------------------

const getDeliveryFlags = signedInWorkflow(PublishedReminders.commands.getDeliveryFlags, async (workflow) => {
  const { master, allowed } = await workflow.turn({
    turn: (turn) => ({
      master: reminderDelivery.isOffered(turn),
      allowed: reminderDelivery.isTurnedOn(turn),
    }),
  });
  const messengers = workflow.use(Messengers);
  const channels = {
    email: await isMailConfigured(workflow.actors),
    telegram: messengers.isConfigured('telegram'),
    whatsapp: messengers.isConfigured('whatsapp'),
  };
  return { reminderDeliveryEnabled: master, allowed, available: master && allowed, channels };
});

const optOutOfDelivery = signedInWorkflow(PublishedReminders.commands.optOutOfDelivery, async (workflow) => {
  await answerRepeat(workflow);
  const recalls = await recallChosen(workflow, (turn) =>
    all(turn).some(({ state }) => state === 'in-flight') ? beingSent : all(turn),
  );
  return workflow.lastTurn({
    recorded: true,
    turn: (turn, _reads, { session }) => {
      applyAnswers(turn, recalls);
      const reminders = all(turn);
      if (reminders.some(isInFlight)) {
        armNext(turn);
        return beingSent;
      }
      const isAnything =
        reminders.length > 0 || deliveryConfig(turn) !== null || reminderDelivery.isTurnedOn(turn);
      forgetDeliveries(turn);
      if (reminderDelivery.isTurnedOn(turn)) putSetting(turn, 'REMINDER_DELIVERY_ENABLED', 'false');
      if (isAnything) audit(turn, 'reminder-delivery-ended', session);
      return { optedOut: true as const, alreadyDispatched: reminders.some(mayHaveArrived) };
    },
  });
});

// --- the configuration ------------------------------------------------------------------------------------------

const getDeliveryConfig = signedInRead(
  PublishedReminders.commands.getDeliveryConfig,
  (view) => reminderDelivery.refusal(view) ?? { config: deliveryConfig(view) },
);

const configure = signedInWorkflow(
  PublishedReminders.commands.setDeliveryConfig,
  async (workflow, request) => {
    const config = readConfig(request);
    const recalls = await recallChosen(workflow, (turn) => {
      if (isRefused(config)) return reminderDelivery.refusal(turn) ?? config;
      return reminderDelivery.refusal(turn) ?? refusedNow(turn, config) ?? affectedBy(turn, config);
    });
    return workflow.lastTurn({
      turn: (turn, _reads, { session }) => {
        applyAnswers(turn, recalls);
        if (isRefused(config)) return config;
        const affected = affectedBy(turn, config);
        const changesTarget = !isSameTarget(configured(deliveryConfig(turn)), configured(config));
        const refused =
          reminderDelivery.refusal(turn) ??
          refusedNow(turn, config) ??
          (affected.some((each) => isMailQueued(each) && isInheriting(turn, each)) ? beingSent : undefined);
        if (refused === undefined && !isSameConfig(deliveryConfig(turn), config)) {
          setDeliveryConfig(turn, config);
          for (const each of affected) redirect(turn, each, changesTarget);
          audit(turn, 'reminder-delivery-changed', session);
        }
        armNext(turn);
        return refused ?? { config };
      },
    });
  },
);

const isSameConfig = (a: DeliveryConfig | null, b: DeliveryConfig): boolean =>
  isSameTarget(configured(a), configured(b)) && a?.enabled === b.enabled;

const configured = (config: DeliveryConfig | null) =>
  config === null ? undefined : { channel: config.channel, destination: config.destination ?? '' };

const isInheriting = (view: View, reminder: PublishedReminder): boolean =>
  inherits(ownTarget(view, reminder));

/** Refusals that no answer of the queue can change. */
function refusedNow(turn: Turn, config: DeliveryConfig): Refused | undefined {
  const before = deliveryConfig(turn);
  if (isSameConfig(before, config)) return undefined;
  const inheriting = all(turn)
    .filter(({ state }) => state === 'in-flight' || state === 'accepted')
    .filter((each) => isInheriting(turn, each));
  if (inheriting.some(({ state }) => state === 'in-flight')) return beingSent;
  const changesTarget = !isSameTarget(configured(before), configured(config));
  return changesTarget && inheriting.length > 0 ? alreadyAccepted : undefined;
}

/** The reminders whose target changes; all of them, if delivery is turned off. */
function affectedBy(turn: Turn, config: DeliveryConfig): readonly PublishedReminder[] {
  const before = deliveryConfig(turn);
  if (isSameConfig(before, config)) return [];
  const waiting = all(turn).filter(({ state }) => state === 'queued' || state === 'claimed');
  return config.enabled ? waiting.filter((each) => isInheriting(turn, each)) : waiting;
}

/** Call after a change of the configuration. */
function redirect(turn: Turn, reminder: PublishedReminder, changesTarget: boolean): void {
  // This reminder names its own target, and is on its way.
  if (isMailQueued(reminder)) return;
  if (changesTarget && isInheriting(turn, reminder)) {
    // Nothing has been tried, so there is nothing to forget.
    const isUntouched = reminder.state === 'queued' && reminder.attempts === 0 && reminder.error === null;
    if (!isUntouched) putReminder(turn, begun(reminder, turn.nowMs));
  } else if (reminder.state === 'claimed') putReminder(turn, backInQueue(reminder, turn.nowMs));
}

// --- reminders ------------------------------------------------------------------------------------------------

const listPublishedReminders = signedInRead(PublishedReminders.commands.listPublishedReminders, (view) => {
  const inOrder = all(view).toSorted((a, b) => a.dueAtMs - b.dueAtMs || (a.id < b.id ? -1 : 1));
  return reminderDelivery.refusal(view) ?? { reminders: inOrder.map((each) => toResponse(view, each)) };
});

const publishReminder = signedInWorkflow(
  PublishedReminders.commands.publishReminder,
  async (workflow, request) => {
    const read = (turn: Turn) =>
      reminderDelivery.refusal(turn) ?? readReminder(request, deliveryConfig(turn)?.channel ?? undefined);
    const recalls = await recallChosen(workflow, (turn) => {
      const input = read(turn);
      if (isRefused(input)) return input;
      const before = turn.entry(publishedReminderMap, input.id);
      return before !== undefined && changeOf(turn, before, input) === 'occurrence' ? [before] : [];
    });
    return workflow.lastTurn({
      turn: (turn) => {
        applyAnswers(turn, recalls);
        const input = read(turn);
        const reminder = isRefused(input) ? input : publish(turn, input, workflow.callId);
        armNext(turn);
        if (isRefused(reminder)) return reminder;
        return { created: reminder.madeBy === workflow.callId, reminder: toResponse(turn, reminder) };
      },
    });
  },
);

function publish(turn: Turn, input: ReminderInput, callId: string): PublishedReminder | Refused {
  const before = turn.entry(publishedReminderMap, input.id);
  if (before === undefined) return create(turn, input, callId);
  const change = changeOf(turn, before, input);
  if (change === 'none') return before;
  if (change === 'occurrence' && !mayBegin(before, input)) return notRecallable;
  if (change === 'occurrence') dropMail(turn, before);
  const record = withContents(turn, before, input);
  const reminder = change === 'occurrence' ? begun(record, turn.nowMs) : record;
  putReminder(turn, reminder);
  return { ...reminder, updatedAtMs: turn.nowMs };
}

function create(turn: Turn, input: ReminderInput, callId: string): PublishedReminder | Refused {
  if (turn.entries(publishedReminderMap).size >= publishedRemindersMax) return tooMany;
  const uuid = turn.random.uuid();
  const { id, dueAtMs, channel, message, destination } = input;
  const made: PublishedReminder = {
    id,
    uuid,
    madeBy: callId,
    dueAtMs,
    channel,
    contents: sealedContents.seal(turn, uuid, { message, destination }),
    createdAtMs: turn.nowMs,
    updatedAtMs: turn.nowMs,
    nextAtMs: Math.max(dueAtMs, turn.nowMs),
    state: 'queued',
    round: 1,
    via: null,
    isRecalled: false,
    attempts: 0,
    error: null,
    acceptedAtMs: null,
    wasDispatched: false,
  };
  putReminder(turn, made);
  return made;
}

function withContents(turn: Turn, before: PublishedReminder, input: ReminderInput): PublishedReminder {
  const { dueAtMs, channel, message, destination } = input;
  const contents = sealedContents.seal(turn, before.uuid, { message, destination });
  return { ...before, contents, dueAtMs, channel };
}

/**
 * `record`: only displayed fields change; a delivery in the past or under way stays. `occurrence`: it is delivered again. A
 * reminder that was sent gets a new occurrence only for a later time, as clients publish again whenever a note changes.
 */
function changeOf(
  turn: Turn,
  before: PublishedReminder,
  input: ReminderInput,
): 'none' | 'record' | 'occurrence' {
  const stored = { ...contentsOf(turn, before), channel: before.channel, dueAtMs: before.dueAtMs };
  const isText = stored.message === input.message && stored.dueAtMs === input.dueAtMs;
  if (isText && stored.channel === input.channel && stored.destination === input.destination) return 'none';
  const config = deliveryConfig(turn);
  const isDelivery =
    !isText || !isSameTarget(deliveryTargetOf(stored, config), deliveryTargetOf(input, config));
  if (!isDelivery) return 'record';
  return before.state === 'sent' && input.dueAtMs <= before.dueAtMs ? 'record' : 'occurrence';
}

/** A reminder that may have arrived cannot be recalled, but may come again at a later time. */
const mayBegin = (before: PublishedReminder, { dueAtMs }: ReminderInput): boolean =>
  isRecallable(before) || (isDispatched(before) && dueAtMs > before.dueAtMs);

const deletePublishedReminder = signedInWorkflow(
  PublishedReminders.commands.deletePublishedReminder,
  async (workflow, { id }) => {
    await answerRepeat(workflow);
    const found = (turn: Turn) =>
      reminderDelivery.refusal(turn) ?? turn.entry(publishedReminderMap, id) ?? unknown;
    const recalls = await recallChosen(workflow, (turn) => {
      const reminder = found(turn);
      return isRefused(reminder) ? reminder : [reminder];
    });
    return workflow.lastTurn({
      recorded: true,
      turn: (turn) => {
        applyAnswers(turn, recalls);
        const reminder = found(turn);
        const refused = isRefused(reminder) ? reminder : isRecallable(reminder) ? undefined : notRecallable;
        if (!isRefused(reminder) && refused === undefined) {
          dropMail(turn, reminder);
          turn.removeEntry(publishedReminderMap, id);
        }
        armNext(turn);
        return refused ?? { deleted: true as const };
      },
    });
  },
);

function toResponse(view: View, reminder: PublishedReminder): PublishedReminderResponse {
  const { message, destination } = contentsOf(view, reminder);
  const { id, state, channel, attempts, error, acceptedAtMs } = reminder;
  return {
    id,
    message,
    dueAtUtc: isoTime(reminder.dueAtMs),
    ...(channel !== null && { channel }),
    ...(destination !== null && { destination }),
    sent: state === 'sent',
    ...(acceptedAtMs !== null && { sentAt: acceptedAtMs }),
    ...(error !== null && { error }),
    createdAt: reminder.createdAtMs,
    updatedAt: reminder.updatedAtMs,
    state,
    attempts,
  };
}

export const publishedReminderCommands = {
  getDeliveryFlags,
  optOutOfDelivery,
  getDeliveryConfig,
  setDeliveryConfig: configure,
  listPublishedReminders,
  publishReminder,
  deletePublishedReminder,
};
