/**
 * The mail by which an administrator tries a relay. It has a fixed text and does not go through the queue. The answer is its result
 * in one word. It counts for the relay's rate, and an administrator may send only a few.
 */
import { z } from 'zod';
import { type Turn, type Workflow, workflow } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { type Refused, refuse } from '../../reply.ts';
import { mailAddress } from '../address.ts';
import { attemptOutcomeOf, auditOperation, logAttempt } from '../log-table.ts';
import { MailAdministration } from '../operator-contract.ts';
import { countAttempt } from '../relay-use.ts';
import { credentialOf, isUsable, type Relay, relaysOf } from '../relays.ts';
import { MailSender, type SendResult } from '../sender.ts';

const minuteMs = 60_000;
const testsPerMinute = 10;
/** Shorter than an administrator's request waits for its answer. */
const timeoutMs = 18_000;

const invalidRecipient = refuse.badRequest('The recipient must be one e-mail address.', 'invalid-recipient');
const noSuchRelay = refuse.notFound('There is no such relay.', 'relay-not-found');
const nothingConfigured = refuse.conflict('No relay is set up.', 'email-delivery-not-configured');

/** The times of the last tests. */
export const testsSlice = slice<readonly number[]>({
  name: 'tests',
  schema: z.array(z.number()),
  initial: [],
});

interface MailTest {
  readonly relay: Relay;
  readonly credential: string | undefined;
  readonly recipient: string;
  readonly messageId: string;
  readonly startedAtMs: number;
}

export const testMail = workflow(MailAdministration.commands.test, {
  creates: true,
  run: async (steps, request) => {
    const test = await steps.turn({ turn: (turn) => begin(turn, request), recorded: true });
    if ('refused' in test) return test;
    const result = await send(steps, test);
    await steps.turn({ turn: (turn) => logAttempt(turn, { ...test, ...oneTest }, result) });
    const { id, kind } = test.relay;
    return {
      ok: { accepted: result.result === 'sent', relay: { id, kind }, outcome: attemptOutcomeOf(result) },
    };
  },
});

const oneTest = { queueId: null, source: 'test', attempt: 1 };

function begin(
  turn: Turn,
  { by, recipient, relayId }: { readonly by: string; recipient?: unknown; relayId?: unknown },
): MailTest | Refused {
  const address = typeof recipient === 'string' ? mailAddress(recipient) : undefined;
  if (address === undefined) return invalidRecipient;
  const relays = relaysOf(turn);
  const isNamed = relayId !== undefined && relayId !== null && relayId !== '';
  const relay = isNamed
    ? relays.find(({ id }) => id === relayId)
    : relays.find((each) => isUsable(turn, each));
  if (relay === undefined) return isNamed ? noSuchRelay : nothingConfigured;
  const recent = turn.get(testsSlice).filter((atMs) => atMs > turn.nowMs - minuteMs);
  const [first = 0] = recent;
  if (recent.length >= testsPerMinute) return tooMany(first + minuteMs - turn.nowMs);
  turn.set(testsSlice, [...recent, turn.nowMs]);
  countAttempt(turn, relay);
  auditOperation(turn, by, 'test', relay.id);
  const domain = relay.from.address.split('@')[1];
  return {
    relay,
    credential: credentialOf(turn, relay),
    recipient: address,
    startedAtMs: turn.nowMs,
    messageId: `<${turn.random.uuid()}@${domain}>`,
  };
}

const tooMany = (retryAfterMs: number): Refused =>
  refuse.tooMany(`At most ${testsPerMinute} tests are possible in a minute.`, retryAfterMs, {
    tag: 'too-many-tests',
  });

function send(
  steps: Workflow,
  { relay, credential, recipient, messageId, startedAtMs }: MailTest,
): Promise<SendResult> {
  return steps.use(MailSender).send({
    relay,
    credential,
    timeoutMs,
    signal: new AbortController().signal,
    message: {
      from: relay.from,
      recipient,
      messageId,
      dateMs: startedAtMs,
      subject: 'A test of mail',
      text: 'An administrator of your notes server has sent this to see whether mail arrives.\n',
    },
    handOver: async () => {},
  });
}
