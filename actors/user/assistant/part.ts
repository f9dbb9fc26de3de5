/**
 * Decides whether the assistant answers an account, by which model, and how often (docs/protocol/assistant.md). The gateway
 * streams. One turn decides here over session, flag, profile, streams and budget, so no race gets past any of them.
 *
 * Invariants:
 * - An account has no more streams at once than allowed, over all nodes. If the gateway of a stream dies, the stream counts
 *   until its time is over.
 * - A counted answer is given back at most once, and only on its own day.
 */
import { z } from 'zod';
import { command, type Turn, type View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { AssistantPolicy, profileFor } from '../../assistant/policy.ts';
import { type Refused, refuse } from '../../reply.ts';
import { dayOf, endOfDayMs, isoTime } from '../../times.ts';
import { userPart } from '../hooks.ts';
import { callerOf } from '../profile.ts';
import { settingValue } from '../settings/stored.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import { AssistantBudget } from './contract.ts';

/** Longer than a gateway lets an answer take, including the last piece for a slow reader. */
const reservedMs = 15 * 60_000;
const busyRetryMs = 5_000;

const useSchema = z.object({
  /** The day in UTC. */
  day: z.int(),
  /** How many answers were counted on that day. */
  used: z.int(),
  streams: z.array(z.object({ uuid: z.string(), day: z.int(), heldUntilMs: z.number() })).readonly(),
});

const assistantSlice = slice<Readonly<z.infer<typeof useSchema>>>({
  name: 'assistant',
  schema: useSchema,
  initial: { day: 0, used: 0, streams: [] },
});

const disabled = refuse.forbidden('The assistant is turned off for this account.', 'ai-disabled');
const invalid = refuse.badRequest('The assistant cannot answer this.', 'invalid-request');
/** Without `Retry-After`, as only an administrator can end it. */
const unavailable = refuse.unavailable(
  'No assistant is set up for this account. Asking again does not help: an administrator has to set one up.',
  'assistant-unavailable',
);
const busy = refuse.tooMany(
  'The assistant is answering this account several times already. Please wait until one has ended.',
  busyRetryMs,
  { tag: 'assistant-busy' },
);

const getAssistantUsage = signedInRead(AssistantBudget.commands.getAssistantUsage, (view) =>
  usageOf(view, view.nowMs),
);

const beginAssistantStream = signedInTurn(AssistantBudget.commands.beginAssistantStream, {
  repeat: 'recorded',
  turn: (turn, { isValid }, _reads, { session }) => {
    if (isTurnedOff(turn)) return disabled;
    if (!isValid) return invalid;
    const policy = turn.use(AssistantPolicy);
    const roles = callerOf(turn).roles.map(({ name }) => name);
    const profile = profileFor(policy, settingValue(turn, 'AI_PROFILE'), roles);
    if (profile === undefined) return unavailable;
    const living = turn.get(assistantSlice).streams.filter(({ heldUntilMs }) => heldUntilMs > turn.nowMs);
    if (living.length >= policy.streamsPerUserMax) return busy;
    const { used, limit, resetsAt } = usageOf(turn, turn.nowMs);
    if (limit > 0 && used >= limit) return tooMany(turn, limit, resetsAt);
    const day = dayOf(turn.nowMs);
    const stream = { uuid: turn.random.uuid(), day, heldUntilMs: turn.nowMs + reservedMs };
    turn.set(assistantSlice, { day, used: used + 1, streams: [...living, stream] });
    const { id: _, ...answering } = profile;
    return { streamUuid: stream.uuid, sessionUuid: session.uuid, ...answering };
  },
});

const endAssistantStream = command(
  AssistantBudget.commands.endAssistantStream,
  (turn, { streamUuid, isRefunded }) => {
    const { day, used, streams } = turn.get(assistantSlice);
    const ended = streams.find(({ uuid }) => uuid === streamUuid);
    if (ended === undefined) return {};
    const refund = isRefunded && ended.day === day ? 1 : 0;
    turn.set(assistantSlice, { day, used: used - refund, streams: streams.filter((each) => each !== ended) });
    return {};
  },
);

const isTurnedOff = (view: View): boolean =>
  ['false', '0'].includes(settingValue(view, 'AI_ENABLED')?.toLowerCase() ?? '');

function usageOf(view: View, nowMs: number) {
  const { day, used } = view.get(assistantSlice);
  return {
    used: day === dayOf(nowMs) ? used : 0,
    limit: limitOf(view),
    resetsAt: isoTime(endOfDayMs(nowMs)),
  };
}

/** The limit that an administrator has set for the account, or the one for all accounts. */
function limitOf(view: View): number {
  const own = Number(settingValue(view, 'AI_REQUEST_LIMIT') ?? 0);
  return Number.isSafeInteger(own) && own > 0 ? own : view.use(AssistantPolicy).dailyRequestsMax;
}

const tooMany = ({ nowMs }: Turn, limit: number, resetsAt: string): Refused =>
  refuse.tooMany(
    `The assistant has answered ${limit} times today, which is the limit of this account.`,
    endOfDayMs(nowMs) - nowMs,
    { tag: 'ai-rate-limited', payload: { limit, resetsAt } },
  );

export const assistantBudget = userPart(AssistantBudget, {
  name: 'assistant',
  uses: [AssistantPolicy],
  slices: [assistantSlice],
  commands: { getAssistantUsage, beginAssistantStream, endAssistantStream },
});
