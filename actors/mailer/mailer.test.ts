import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { command, tell } from '../../runtime/command.ts';
import { provide } from '../../runtime/dependency.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { kind } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { Postbox } from '../../test/kit/postbox.ts';
import { createUserSecrets, UserSecrets } from '../identity/user-secrets.ts';
import { defaultMailSettings, MailSettings } from '../settings.ts';
import { Mailer, type MailOutcome, mailerId, mailOutcomeSchema, mailSourceSchema } from './contract.ts';
import { mailer } from './mailer.ts';
import { sealMail, tellToSend } from './outgoing.ts';
import { MailSender } from './sender.ts';

const minuteMs = 60_000;

/** An actor that sends mail and keeps what it is told of it. */
const outcomes = slice<readonly MailOutcome[]>({
  name: 'outcomes',
  format: 1,
  schema: z.array(mailOutcomeSchema),
  initial: [],
});
const wanted = z.object({ id: z.string(), source: mailSourceSchema, recipient: z.string() });
const author = kind({
  name: 'author',
  uses: [UserSecrets],
  slices: [outcomes],
  commands: {
    seal: command({
      request: wanted,
      reply: z.any(),
      creates: true,
      turn: (turn, mail) => sealMail(turn, composed(turn.self.id, mail)),
    }),
    send: command({
      request: wanted,
      reply: z.null(),
      creates: true,
      turn: (turn, mail) => {
        // An actor without state is told nothing.
        turn.set(outcomes, [...turn.get(outcomes)]);
        tellToSend(turn, sealMail(turn, composed(turn.self.id, mail)));
        return null;
      },
    }),
    outcomes: command({ request: z.null(), reply: z.any(), turn: (turn) => turn.get(outcomes) }),
  },
  tells: {
    mailOutcome: tell({
      payload: mailOutcomeSchema,
      turn: (turn, outcome) => turn.set(outcomes, [...turn.get(outcomes), outcome]),
    }),
  },
});

const composed = (author: string, { id, source, recipient }: z.infer<typeof wanted>) => ({
  ...{ id, source, recipient, userUuid: author, subject: 'A subject', text: `The text of ${id}.` },
  listener: { kind: 'author', id: author, key: 'letter' },
});

const configured = {
  ...defaultMailSettings,
  host: '127.0.0.1',
  from: { name: 'Notes', address: 'notes@home.test' },
};

async function start(t: ExecutionContext, settings: Partial<MailSettings> = configured) {
  const postbox = new Postbox();
  const provided = [
    provide(UserSecrets, createUserSecrets(createKeyring(Buffer.alloc(32, 7)))),
    provide(MailSettings, { ...defaultMailSettings, ...settings }),
    provide(MailSender, postbox),
  ];
  const first = await startTestHost({ kinds: [mailer, author], provided, leaseMs: 1e9 });
  let host = first;
  t.teardown(() => host.host.abandon());
  const ann = () => host.actors.get(author, 'ann').ask;
  const { clock } = first;
  return {
    postbox,
    clock,
    ann,
    mailer: () => host.actors.get(Mailer, mailerId).ask,
    texts: () => postbox.messages.map(({ text }) => text),
    async send(
      id: string,
      source: z.infer<typeof mailSourceSchema> = 'other',
      recipient = 'bob@example.test',
    ) {
      await ann().send({ id, source, recipient });
      await clock.advance(4_000);
    },
    async told(): Promise<readonly MailOutcome[]> {
      await clock.advance(4_000);
      return (await ann().outcomes(null)) as readonly MailOutcome[];
    },
    async restart(changes: Partial<MailSettings> = {}) {
      const settings = provide(MailSettings, { ...configured, ...changes });
      host = await host.restart({
        provided: [...provided.filter((each) => each.dependency !== MailSettings), settings],
      });
    },
  };
}

test('a mail that a turn tells to send is sent once, and its actor is told', async (t) => {
  const { send, told, postbox } = await start(t);
  await send('one');
  t.like(postbox.messages, [
    { recipient: 'bob@example.test', subject: 'A subject', text: 'The text of one.' },
  ]);
  t.like(await told(), [{ id: 'one', key: 'letter', outcome: 'accepted', attempts: 1, failure: null }]);
});

test('the same id queued twice is one mail, also after it was sent', async (t) => {
  const { ann, mailer, clock, texts } = await start(t);
  const sealed = await ann().seal({ id: 'one', source: 'other', recipient: 'bob@example.test' });
  for (let time = 0; time < 3; time += 1) {
    t.deepEqual(await mailer().queue(sealed), { queued: true });
    await clock.advance(1_000);
  }
  t.deepEqual(texts(), ['The text of one.']);
});

test('without a relay a request is refused, and who tells is told so', async (t) => {
  const { ann, mailer, send, told, texts } = await start(t, {});
  t.deepEqual(await mailer().status({}), { configured: false });
  const sealed = await ann().seal({ id: 'one', source: 'other', recipient: 'bob@example.test' });
  t.like(await mailer().queue(sealed), { queued: false, why: 'not-configured' });
  await send('two');
  t.like(await told(), [{ id: 'two', outcome: 'refused', refusal: 'not-configured' }]);
  t.deepEqual(texts(), []);
});

test('a full queue refuses what comes', async (t) => {
  const { ann, mailer, postbox, send, told } = await start(t, {
    ...configured,
    limits: { contentBytes: 1_000_000, mails: 1 },
  });
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await send('one');
  const sealed = await ann().seal({ id: 'two', source: 'other', recipient: 'bob@example.test' });
  t.like(await mailer().queue(sealed), { queued: false, why: 'full' });
  await send('three');
  t.like((await told()).at(-1), { id: 'three', outcome: 'refused', refusal: 'full' });
});

test('a mail is recalled while it waits, and before it has arrived', async (t) => {
  const { mailer, postbox, send, texts, clock } = await start(t);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await send('waiting');
  t.deepEqual(await mailer().recall({ id: 'waiting' }), { result: 'recalled' });
  t.deepEqual(await mailer().recall({ id: 'late' }), { result: 'recalled' });
  postbox.answer = () => undefined;
  await send('late');
  await clock.advance(10 * minuteMs);
  t.deepEqual(texts(), []);
  await send('sent');
  t.deepEqual(await mailer().recall({ id: 'sent' }), { result: 'accepted' });
});

test('a mail that is being sent is not recalled', async (t) => {
  const { mailer, postbox, send, texts, clock } = await start(t);
  let answer = () => {};
  postbox.answer = () =>
    new Promise((resolve) => {
      answer = () => resolve(undefined);
    });
  await send('one');
  t.deepEqual(await mailer().recall({ id: 'one' }), { result: 'in-flight' });
  answer();
  await clock.advance(100);
  t.deepEqual(texts(), ['The text of one.']);
});

test('what a relay may take later is tried again after the times of its source, and is dead after the last', async (t) => {
  const { postbox, send, clock, told } = await start(t);
  const timesMs: number[] = [];
  postbox.answer = () => {
    timesMs.push(clock.nowMs());
    return { result: 'transient', failure: 'provider' };
  };
  await send('one', 'published-reminder');
  for (const waitMinutes of [1, 5, 15, 60, 360]) await clock.advance(waitMinutes * minuteMs + 4_000);
  const waitedMinutes = timesMs.slice(1).map((atMs, index) => (atMs - Number(timesMs[index])) / minuteMs);
  t.deepEqual(waitedMinutes.map(Math.floor), [1, 5, 15, 60, 360]);
  await clock.advance(1_000 * minuteMs);
  t.is(timesMs.length, 6);
  t.deepEqual(
    (await told()).map(({ outcome }) => outcome),
    ['failed', 'failed', 'failed', 'failed', 'failed', 'dead'],
  );
});

test('a relay that is away costs no attempt, and every mail is sent when it is back', async (t) => {
  const { postbox, send, clock, told, texts } = await start(t);
  postbox.answer = () => ({ result: 'unable', failure: 'connection' });
  for (const id of ['one', 'two', 'three']) await send(id, 'dead-man-switch');
  await clock.advance(60 * minuteMs);
  postbox.answer = () => undefined;
  await clock.advance(6 * minuteMs);
  t.deepEqual([...texts()].sort(), ['The text of one.', 'The text of three.', 'The text of two.']);
  t.true((await told()).every(({ outcome, attempts }) => outcome === 'accepted' && attempts === 1));
});

test('a code that comes too late is not sent, and nothing of it is kept', async (t) => {
  const { postbox, send, clock, told, texts } = await start(t);
  postbox.answer = () => ({ result: 'unable', failure: 'connection' });
  await send('code', 'magic-link');
  await clock.advance(11 * minuteMs);
  postbox.answer = () => undefined;
  await clock.advance(30 * minuteMs);
  t.deepEqual(texts(), []);
  t.like((await told()).at(-1), { outcome: 'dead', failure: 'expired' });
});

test('an account sends so many mails to others in a day, and its own are not counted', async (t) => {
  const { send, texts, told, clock } = await start(t, { ...configured, othersPerDay: 2 });
  for (const id of ['1', '2', '3']) await send(id, 'invite');
  await send('own', 'security-notice');
  t.deepEqual(texts(), ['The text of 1.', 'The text of 2.', 'The text of own.']);
  t.like(
    (await told()).find(({ id }) => id === '3'),
    { outcome: 'refused', refusal: 'daily-limit' },
  );
  await clock.leap(86_400_000);
  await send('4', 'invite');
  t.is(texts().at(-1), 'The text of 4.');
});

for (const [source, sentAgain] of [
  ['dead-man-switch', true],
  ['email-reminder', true],
  ['invite', false],
  ['magic-link', false],
] as const) {
  test(`after a crash with the mail handed over, ${source} is ${sentAgain ? 'sent again under the same Message-ID' : 'dead'}`, async (t) => {
    const { postbox, send, restart, clock, told, mailer } = await start(t);
    const ids: string[] = [];
    postbox.answer = async ({ handOver, message }) => {
      ids.push(message.messageId);
      await handOver();
      return new Promise(() => {});
    };
    await send('one', source);
    t.is(ids.length, 1);
    await restart();
    postbox.answer = ({ message }) => {
      ids.push(message.messageId);
      return undefined;
    };
    await clock.advance(45_000);
    t.is(ids.length, sentAgain ? 2 : 1);
    t.is(new Set(ids).size, 1);
    t.like(
      (await told()).at(-1),
      sentAgain ? { outcome: 'accepted' } : { outcome: 'dead', failure: 'timeout' },
    );
    t.deepEqual(await mailer().recall({ id: 'one' }), { result: sentAgain ? 'accepted' : 'in-flight' });
  });
}

test('after a crash before the mail was handed over it is sent once', async (t) => {
  const { postbox, send, restart, clock, texts } = await start(t);
  postbox.answer = () => new Promise(() => {});
  await send('one', 'magic-link');
  await restart();
  postbox.answer = () => undefined;
  await clock.advance(45_000);
  t.deepEqual(texts(), ['The text of one.']);
});

test('what somebody waits for is sent before what nobody does', async (t) => {
  const { postbox, send, clock, texts } = await start(t);
  postbox.answer = () => ({ result: 'unable', failure: 'connection' });
  for (let number = 0; number < 20; number += 1) await send(`notice ${number}`.replace(' ', '-'));
  await send('code', 'magic-link');
  postbox.answer = () => undefined;
  await clock.advance(5 * minuteMs);
  t.is(texts().length, 21);
  t.true(texts().indexOf('The text of code.') < 4);
});
