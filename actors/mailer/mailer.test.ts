import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { command, tell } from '../../runtime/command.ts';
import { provide } from '../../runtime/dependency.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { kind } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';
import { startTestHost } from '../../test/kit/host.ts';
import { sealedMail } from '../../test/kit/mail.ts';
import { Postbox } from '../../test/kit/postbox.ts';
import { createSigninKeys, SigninKeys } from '../identity/signin-keys.ts';
import { createUserSecrets, UserSecrets } from '../identity/user-secrets.ts';
import { AccountSettings, defaultAccountSettings } from '../settings.ts';
import { MailDiskSpace } from './capacity.ts';
import { Mailer, type MailOutcome, mailerId, mailOutcomeSchema, mailSourceSchema } from './contract.ts';
import { mailer } from './mailer.ts';
import { MailAdministration } from './operator-contract.ts';
import { sealMail, tellToForgetSender, tellToRecall, tellToSend } from './outgoing.ts';
import { MailSender, type SendResult } from './sender.ts';
import { defaultMailSettings, MailSettings } from './settings.ts';
import type { MailSource } from './sources.ts';

const minuteMs = 60_000;

/** An actor that sends mail and keeps what it is told of it. */
const outcomes = slice<readonly MailOutcome[]>({
  name: 'outcomes',
  format: 1,
  schema: z.array(mailOutcomeSchema),
  initial: [],
});
const requestSchema = z.object({
  id: z.string(),
  source: mailSourceSchema,
  recipient: z.string(),
  messageId: z.string().optional(),
});
const author = kind({
  name: 'author',
  uses: [UserSecrets],
  slices: [outcomes],
  commands: {
    seal: command(
      { request: requestSchema, reply: z.any() },
      {
        creates: true,
        turn: (turn, mail) => sealMail(turn, composed(turn.self.id, mail)),
      },
    ),
    send: command(
      { request: requestSchema, reply: z.null() },
      {
        creates: true,
        turn: (turn, mail) => {
          // An actor without state is told nothing.
          turn.set(outcomes, [...turn.get(outcomes)]);
          tellToSend(turn, sealMail(turn, composed(turn.self.id, mail)));
          return null;
        },
      },
    ),
    recall: command({ request: z.object({ id: z.string() }), reply: z.null() }, (turn, { id }) => {
      tellToRecall(turn, id);
      return null;
    }),
    forget: command({ request: z.null(), reply: z.null() }, (turn) => {
      tellToForgetSender(turn);
      return null;
    }),
    outcomes: command({ request: z.null(), reply: z.any() }, (turn) => turn.get(outcomes)),
  },
  tells: {
    mailOutcome: tell({ payload: mailOutcomeSchema }, (turn, outcome) =>
      turn.set(outcomes, [...turn.get(outcomes), outcome]),
    ),
  },
});

const composed = (author: string, { id, source, recipient, messageId }: z.infer<typeof requestSchema>) => ({
  id,
  source,
  recipient,
  messageId,
  userUuid: author,
  subject: 'A subject',
  text: `The text of ${id}.`,
  listener: { kind: 'author', id: author, key: 'letter' },
});

const annsLetter = { kind: 'author', id: 'ann', key: 'letter' };

const configured = {
  ...defaultMailSettings,
  host: '127.0.0.1',
  from: { name: 'Notes', address: 'notes@home.test' },
};

async function start(t: ExecutionContext, settings: Partial<MailSettings> = configured) {
  const postbox = new Postbox();
  const room = { isLow: false };
  const provided = [
    provide(UserSecrets, createUserSecrets(createKeyring(Buffer.alloc(32, 7)))),
    provide(SigninKeys, createSigninKeys(createKeyring(Buffer.alloc(32, 7)))),
    provide(AccountSettings, { ...defaultAccountSettings, reminderDelivery: true }),
    provide(MailSettings, { ...defaultMailSettings, ...settings }),
    provide(MailSender, postbox),
    provide(MailDiskSpace, room),
  ];
  const first = await startTestHost({ kinds: [mailer, author], provided, leaseMs: 1e9 });
  let host = first;
  t.teardown(() => host.host.abandon());
  const ann = () => host.actors.get(author, 'ann').ask;
  const { clock } = first;
  return {
    postbox,
    room,
    administration: () => host.actors.get(MailAdministration, mailerId).ask,
    clock,
    ann,
    mailer: () => host.actors.get(Mailer, mailerId).ask,
    texts: () => postbox.messages.map(({ text }) => text),
    async send(
      id: string,
      source: z.infer<typeof mailSourceSchema> = 'other',
      recipient = 'bob@example.test',
      sender = 'ann',
    ) {
      await host.actors.get(author, sender).ask.send({ id, source, recipient });
      await clock.advance(4_000);
    },
    async receivedOutcomes(): Promise<readonly MailOutcome[]> {
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
  const { send, receivedOutcomes, postbox } = await start(t);
  await send('one');
  t.like(postbox.messages, [
    { recipient: 'bob@example.test', subject: 'A subject', text: 'The text of one.' },
  ]);
  t.like(await receivedOutcomes(), [
    { id: 'one', key: 'letter', outcome: 'accepted', attempts: 1, failure: null },
  ]);
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

test('without a relay a request is refused, and so is a tell, with an outcome', async (t) => {
  const { ann, mailer, send, receivedOutcomes, texts } = await start(t, {});
  t.deepEqual(await mailer().status({}), { configured: false });
  const sealed = await ann().seal({ id: 'one', source: 'other', recipient: 'bob@example.test' });
  t.like(await mailer().queue(sealed), { queued: false, why: 'not-configured' });
  await send('two');
  t.like(await receivedOutcomes(), [{ id: 'two', outcome: 'refused', refusal: 'not-configured' }]);
  t.deepEqual(texts(), []);
});

test('a caller that asks for capacity is told what would be refused, and a code has more of it than the rest', async (t) => {
  const { mailer, room, send, postbox, clock, restart } = await start(t, {
    ...configured,
    limits: { ...configured.limits, mails: 2 },
  });
  const queued = async (source: z.infer<typeof mailSourceSchema>) => {
    const answer = await mailer().room({ source });
    return answer.queued ? 'capacity' : answer.why;
  };
  const both = async () => [await queued('other'), await queued('magic-link')];
  t.deepEqual(await both(), ['capacity', 'capacity']);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  for (const id of ['one', 'two']) await send(id, 'magic-link');
  t.deepEqual(await both(), ['full', 'full']);
  postbox.answer = () => undefined;
  await clock.advance(2 * minuteMs);
  t.deepEqual(await both(), ['capacity', 'capacity']);
  room.isLow = true;
  t.deepEqual(await both(), ['full', 'full']);
  room.isLow = false;
  await restart({ limits: { ...configured.limits, contentBytes: 4_500 } });
  t.deepEqual(await both(), ['full', 'capacity']);
  await restart({ host: undefined });
  t.deepEqual(await both(), ['not-configured', 'not-configured']);
});

test('the queue takes 64 MiB of mail unless the operator says otherwise, the last of it for codes', async (t) => {
  t.is(configured.limits.contentBytes, 64 * 1_048_576);
  const { mailer, postbox, restart } = await start(t);
  const contentBytes = 2 * 1_048_576;
  await restart({ limits: { ...configured.limits, contentBytes } });
  postbox.answer = () => new Promise(() => {});
  const queue = async (id: string, source?: z.infer<typeof mailSourceSchema>) => {
    const answer = await mailer().queue(sealedMail(id, source, { text: 'x'.repeat(200_000) }));
    return answer.queued ? 'queued' : answer.why;
  };
  const answers: string[] = [];
  for (let mail = 0; mail < 10; mail += 1) answers.push(await queue(`mail-${mail}`));
  t.deepEqual(answers, [...Array(9).fill('queued'), 'full']);
  t.is(await queue('code', 'magic-link'), 'queued');
  t.is(await queue('another', 'magic-link'), 'full');
});

const mebibyte = 1_048_576;

test('a mail of up to 25 MiB is sent, or of what the operator allows; a larger one is dead at once', async (t) => {
  const { administration, ann, mailer, postbox, clock, restart, receivedOutcomes } = await start(t);
  const queue = async (id: string, bytes: number) => {
    await mailer().queue({ ...sealedMail(id, 'other', { text: 'x'.repeat(bytes) }), listener: annsLetter });
    await clock.advance(4_000);
  };
  await ann().send({ id: 'first', source: 'other', recipient: 'bob@example.test' });
  await queue('largest', 24 * mebibyte);
  t.is(postbox.messages.at(-1)?.text.length, 24 * mebibyte);
  t.like((await receivedOutcomes()).at(-1), { id: 'largest', outcome: 'accepted' });
  await restart({ limits: { ...configured.limits, mailBytes: mebibyte } });
  await queue('too-large', mebibyte);
  t.like((await receivedOutcomes()).at(-1), { id: 'too-large', outcome: 'dead', failure: 'rejected' });
  await restart({ limits: { ...configured.limits, contentBytes: 2 * mebibyte } });
  await queue('never-fits', 2 * mebibyte);
  t.like((await receivedOutcomes()).at(-1), { id: 'never-fits', outcome: 'dead', failure: 'rejected' });
  t.like(await administration().health({}), { mails: { ready: 0, waiting: 0, leased: 0, dead: 0 } });
});

test('large mails are sent one at a time, and keep no code and no worker from being sent meanwhile', async (t) => {
  const { mailer, postbox, clock } = await start(t);
  const requests: string[] = [];
  const open: (() => void)[] = [];
  postbox.answer = ({ message: { text } }) => {
    const isLarge = text.startsWith('large');
    requests.push(text.slice(0, 7));
    return isLarge ? new Promise((resolve) => open.push(() => resolve(undefined))) : undefined;
  };
  const queue = async (name: string, source?: MailSource, bytes = 0) => {
    await mailer().queue(sealedMail(name, source, { text: name.padEnd(bytes, '.') }));
    await clock.advance(4_000);
  };
  await queue('large-1', 'other', 2 * mebibyte);
  await queue('small-1');
  await queue('large-2', 'other', 2 * mebibyte);
  await queue('large-3', 'other', 2 * mebibyte);
  await queue('small-2');
  await queue('code--1', 'magic-link');
  t.deepEqual(requests, ['large-1', 'small-1', 'code--1']);
  const sendLarge = async () => {
    open.shift()?.();
    await clock.advance(4_000);
  };
  await sendLarge();
  t.deepEqual(requests.slice(3), ['large-2']);
  await sendLarge();
  t.deepEqual(requests.slice(4).toSorted(), ['large-3', 'small-2']);
  await sendLarge();
  t.deepEqual(postbox.messages.map(({ text }) => text.slice(0, 7)).toSorted(), [
    'code--1',
    'large-1',
    'large-2',
    'large-3',
    'small-1',
    'small-2',
  ]);
});

test('mails of bulk are sent one at a time and after all others, and a crowd of them keeps nothing waiting', async (t) => {
  const { mailer, postbox, clock } = await start(t);
  const attempted: string[] = [];
  const open: (() => void)[] = [];
  postbox.answer = ({ message: { text } }) => {
    attempted.push(text);
    return text.startsWith('bulk')
      ? new Promise((resolve) => open.push(() => resolve(undefined)))
      : undefined;
  };
  const queue = async (name: string, source?: MailSource) => {
    await mailer().queue(sealedMail(name, source, { text: name }));
    await clock.advance(4_000);
  };
  for (const name of ['bulk-1', 'bulk-2', 'bulk-3']) await queue(name, 'email-backup');
  for (const name of ['other-1', 'other-2']) await queue(name);
  await queue('code', 'magic-link');
  t.deepEqual(attempted, ['bulk-1', 'other-1', 'other-2', 'code']);
  for (const name of ['bulk-2', 'bulk-3']) {
    open.shift()?.();
    await clock.advance(4_000);
    t.is(attempted.at(-1), name);
  }
  open.shift()?.();
  await clock.advance(4_000);
  t.is(postbox.messages.length, 6);
});

test('mails of bulk take a quarter of the queue at most', async (t) => {
  const limits = { ...configured.limits, mails: 8 };
  const { send, receivedOutcomes, postbox } = await start(t, { ...configured, limits });
  postbox.answer = () => ({ result: 'unable', failure: 'connection' });
  for (const id of ['backup-1', 'backup-2', 'backup-3']) await send(id, 'email-backup');
  await send('other');
  t.deepEqual(
    (await receivedOutcomes()).map(({ id, outcome, refusal }) => ({ id, outcome, refusal })),
    [{ id: 'backup-3', outcome: 'refused', refusal: 'full' }],
  );
});

test('large mails that a relay takes later are tried again as small ones are', async (t) => {
  const { mailer, postbox, clock } = await start(t);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  for (const id of ['one', 'two', 'three'])
    await mailer().queue(sealedMail(id, 'other', { text: id.padEnd(2 * mebibyte) }));
  await clock.advance(4_000);
  postbox.answer = () => undefined;
  t.is(postbox.messages.length, 0);
  await clock.advance(minuteMs);
  t.deepEqual(postbox.messages.map(({ text }) => text.trim()).toSorted(), ['one', 'three', 'two']);
});

test('a full queue refuses what comes', async (t) => {
  const { ann, mailer, postbox, send, receivedOutcomes } = await start(t, {
    ...configured,
    limits: { ...configured.limits, mails: 1 },
  });
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await send('one');
  const sealed = await ann().seal({ id: 'two', source: 'other', recipient: 'bob@example.test' });
  t.like(await mailer().queue(sealed), { queued: false, why: 'full' });
  await send('three');
  t.like((await receivedOutcomes()).at(-1), { id: 'three', outcome: 'refused', refusal: 'full' });
});

test('a disk that is nearly full refuses what comes, and takes it once there is room again', async (t) => {
  const { ann, mailer, room, send, receivedOutcomes, texts } = await start(t);
  room.isLow = true;
  const sealed = await ann().seal({ id: 'one', source: 'other', recipient: 'bob@example.test' });
  t.like(await mailer().queue(sealed), { queued: false, why: 'full' });
  await send('two');
  t.like(await receivedOutcomes(), [{ id: 'two', outcome: 'refused', refusal: 'full' }]);
  room.isLow = false;
  t.deepEqual(await mailer().queue(sealed), { queued: true });
  await send('two');
  t.deepEqual(texts(), ['The text of one.', 'The text of two.']);
});

test('a mail is recalled while it waits, and before it has arrived', async (t) => {
  const { mailer, postbox, send, texts, clock } = await start(t);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await send('waiting');
  t.deepEqual(await mailer().recall({ id: 'waiting', userUuid: 'ann' }), { result: 'recalled' });
  t.deepEqual(await mailer().recall({ id: 'late', userUuid: 'ann' }), { result: 'recalled' });
  postbox.answer = () => undefined;
  await send('late');
  await clock.advance(10 * minuteMs);
  t.deepEqual(texts(), []);
  await send('sent');
  t.deepEqual(await mailer().recall({ id: 'sent', userUuid: 'ann' }), { result: 'accepted' });
});

test("an account's recalled mails are remembered up to a bound, and no more recalls are promised", async (t) => {
  const limits = { ...configured.limits, recalledPerAccount: 2 };
  const { mailer, postbox, send, texts, clock } = await start(t, { ...configured, limits });
  const recall = async (id: string, userUuid = 'ann') => (await mailer().recall({ id, userUuid })).result;
  t.is(await recall('one'), 'recalled');
  t.is(await recall('two'), 'recalled');
  t.is(await recall('three'), 'in-flight');
  t.is(await recall('one'), 'recalled');
  t.is(await recall('other', 'ben'), 'recalled');
  // What is in the queue is called back all the same.
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await send('waiting');
  t.is(await recall('waiting'), 'recalled');
  postbox.answer = () => undefined;
  for (const id of ['one', 'two', 'three']) await send(id);
  await clock.advance(10 * minuteMs);
  t.deepEqual(texts(), ['The text of three.']);
});

test('a mail that is being sent is not recalled', async (t) => {
  const { mailer, postbox, send, texts, clock } = await start(t);
  let answer = () => {};
  postbox.answer = () =>
    new Promise((resolve) => {
      answer = () => resolve(undefined);
    });
  await send('one');
  t.deepEqual(await mailer().recall({ id: 'one', userUuid: 'ann' }), { result: 'in-flight' });
  answer();
  await clock.advance(100);
  t.deepEqual(texts(), ['The text of one.']);
});

test('a mail that a relay may accept later is tried again after the times of its source, and is dead after the last', async (t) => {
  const { postbox, send, clock, receivedOutcomes } = await start(t);
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
    (await receivedOutcomes()).map(({ outcome }) => outcome),
    ['failed', 'failed', 'failed', 'failed', 'failed', 'dead'],
  );
});

test('a relay that is away costs no attempt, and every mail is sent when it is back', async (t) => {
  const { postbox, send, clock, receivedOutcomes, texts } = await start(t);
  postbox.answer = () => ({ result: 'unable', failure: 'connection' });
  for (const id of ['one', 'two', 'three']) await send(id, 'dead-man-switch');
  await clock.advance(60 * minuteMs);
  postbox.answer = () => undefined;
  await clock.advance(6 * minuteMs);
  t.deepEqual([...texts()].sort(), ['The text of one.', 'The text of three.', 'The text of two.']);
  t.true(
    (await receivedOutcomes()).every(({ outcome, attempts }) => outcome === 'accepted' && attempts === 1),
  );
});

test('a code that comes too late is not sent, and nothing of it is kept', async (t) => {
  const { postbox, send, clock, receivedOutcomes, texts } = await start(t);
  postbox.answer = () => ({ result: 'unable', failure: 'connection' });
  await send('code', 'magic-link');
  await clock.advance(11 * minuteMs);
  postbox.answer = () => undefined;
  await clock.advance(30 * minuteMs);
  t.deepEqual(texts(), []);
  t.like((await receivedOutcomes()).at(-1), { outcome: 'dead', failure: 'expired' });
});

test('an account sends so many mails to others in a day, and its own are not counted', async (t) => {
  const { send, texts, receivedOutcomes, clock } = await start(t, { ...configured, othersPerDay: 2 });
  for (const id of ['1', '2', '3']) await send(id, 'invite');
  await send('own', 'security-notice');
  t.deepEqual(texts(), ['The text of 1.', 'The text of 2.', 'The text of own.']);
  t.like(
    (await receivedOutcomes()).find(({ id }) => id === '3'),
    { outcome: 'refused', refusal: 'daily-limit' },
  );
  await clock.leap(86_400_000);
  await send('4', 'invite');
  t.is(texts().at(-1), 'The text of 4.');
});

test('an account is sent so many reminders and notices in a day, as its address may be that of another', async (t) => {
  const { send, texts, receivedOutcomes } = await start(t, {
    ...configured,
    othersPerDay: 1,
    accountPerDay: 2,
  });
  await send('1', 'email-reminder');
  await send('2', 'dead-man-switch-notice');
  await send('3', 'email-reminder');
  await send('other', 'invite');
  t.deepEqual(texts(), ['The text of 1.', 'The text of 2.', 'The text of other.']);
  t.like(
    (await receivedOutcomes()).find(({ id }) => id === '3'),
    { outcome: 'refused', refusal: 'daily-limit' },
  );
});

test('a tenth of the queue is kept for what somebody waits for', async (t) => {
  const limits = { ...configured.limits, mails: 10 };
  const { send, receivedOutcomes, postbox } = await start(t, { ...configured, limits, othersPerDay: 0 });
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  for (let count = 1; count <= 10; count += 1) await send(`invite-${count}`, 'invite');
  const refused = (await receivedOutcomes())
    .filter(({ outcome }) => outcome === 'refused')
    .map(({ id }) => id);
  t.deepEqual(refused, ['invite-10']);
  await send('code', 'magic-link');
  t.false((await receivedOutcomes()).some(({ id, outcome }) => id === 'code' && outcome === 'refused'));
});

test('an account keeps a bounded number of dead mails: the newest replaces the oldest', async (t) => {
  const limits = { ...configured.limits, deadPerAccount: 2 };
  const { send, postbox, administration, texts, receivedOutcomes, clock } = await start(t, {
    ...configured,
    limits,
  });
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  await send('other', 'invite', 'bob@example.test', 'ben');
  for (const id of ['one', 'two', 'three']) await send(id, 'invite');
  const dead = async () => {
    const page = await administration().listQueue({ state: 'dead' });
    return 'ok' in page ? page.ok.records.map(({ id }) => id) : page;
  };
  t.deepEqual(await dead(), ['other', 'two', 'three']);
  t.is((await administration().health({})).mails.dead, 3);
  t.like(await administration().retry({ by: 'ann', id: 'one' }), {
    refused: { tag: 'queue-record-not-found' },
  });
  t.deepEqual(
    (await receivedOutcomes()).map(({ id, outcome }) => [id, outcome]),
    ['one', 'two', 'three'].map((id) => [id, 'dead']),
  );

  // What is tried again makes room, and what was given up is not queued anew.
  postbox.answer = () => undefined;
  await administration().retry({ by: 'ann', id: 'two' });
  await send('one', 'invite');
  await clock.advance(10_000);
  t.deepEqual(texts(), ['The text of two.']);
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  await send('four', 'invite');
  t.deepEqual(await dead(), ['other', 'three', 'four']);
  await administration().discard({ by: 'ann', id: 'three' });
  await send('five', 'invite');
  t.deepEqual(await dead(), ['other', 'four', 'five']);
  for (let days = 0; days <= 30; days += 3) {
    await clock.leap(3 * 86_400_000);
    await clock.advance(minuteMs);
  }
  t.deepEqual(await dead(), []);
});

test('an account that is deleted leaves no dead mails behind', async (t) => {
  const { send, postbox, administration, ann, clock } = await start(t);
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  for (const id of ['one', 'two']) await send(id, 'invite');
  await send('other', 'invite', 'bob@example.test', 'ben');
  await ann().forget(null);
  await clock.advance(10_000);
  const page = await administration().listQueue({ state: 'dead' });
  t.deepEqual('ok' in page ? page.ok.records.map(({ id }) => id) : page, ['other']);
  t.is((await administration().health({})).mails.dead, 1);
  postbox.answer = () => undefined;
  await send('one', 'invite');
  await clock.advance(10_000);
  t.deepEqual(postbox.messages, []);
});

for (const source of ['email-reminder', 'dead-man-switch'] as const) {
  test(`${source}: what is given back after a relay may have had it goes again under the same Message-ID`, async (t) => {
    const { conclude, receivedOutcomes, postbox, ann } = await recalledInFlight(t, source);
    conclude(uncertain);
    const { outcome, messageId } = (await receivedOutcomes()).at(-1) ?? {};
    t.is(outcome, 'recalled');
    t.regex(messageId ?? '', /^<[\w-]+@home\.test>$/);
    await ann().send({ id: 'another', source, recipient: 'bob@example.test', messageId });
    await receivedOutcomes();
    t.deepEqual(
      postbox.messages.map((message) => message.messageId),
      [messageId],
    );
  });
}

for (const [what, limits, counts] of [
  ['mails', { mails: 10 }, 9],
  ['bytes', { contentBytes: 4_000 }, undefined],
] as const) {
  test(`health is not good while there is no room for ${what} of any kind, and is again`, async (t) => {
    const { send, postbox, administration, clock } = await start(t, {
      ...configured,
      limits: { ...configured.limits, ...limits },
      othersPerDay: 0,
    });
    const isGood = async () => (await administration().health({})).good;
    await send('first', 'magic-link');
    t.true(await isGood());
    postbox.answer = () => ({ result: 'transient', failure: 'provider' });
    let mails = 0;
    while ((await isGood()) && mails < 100) {
      mails += 1;
      await send(`mail-${mails}`, 'magic-link');
    }
    if (counts === undefined) t.true(mails > 1 && mails < 100);
    else t.is(mails, counts);
    postbox.answer = () => undefined;
    await clock.advance(2 * minuteMs);
    t.true(await isGood());
  });
}

test('health is not good while the disk is nearly full', async (t) => {
  const { send, room, administration } = await start(t);
  await send('one');
  room.isLow = true;
  t.false((await administration().health({})).good);
  room.isLow = false;
  t.true((await administration().health({})).good);
});

for (const [source, sentAgain] of [
  ['dead-man-switch', true],
  ['email-reminder', true],
  ['invite', false],
  ['magic-link', false],
] as const) {
  test(`after a crash with the mail handed over, ${source} is ${sentAgain ? 'sent again under the same Message-ID' : 'dead'}`, async (t) => {
    const { postbox, send, restart, clock, receivedOutcomes, mailer } = await start(t);
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
      (await receivedOutcomes()).at(-1),
      sentAgain ? { outcome: 'accepted' } : { outcome: 'dead', failure: 'timeout' },
    );
    t.deepEqual(await mailer().recall({ id: 'one', userUuid: 'ann' }), {
      result: sentAgain ? 'accepted' : 'in-flight',
    });
  });
}

test('a dead mail that may have arrived reports nothing once it is recalled, and is not tried again', async (t) => {
  const { postbox, send, mailer, administration, texts, clock } = await start(t);
  for (const id of ['one', 'two']) {
    postbox.answer = async ({ handOver }) => {
      await handOver();
      return { result: 'uncertain', failure: 'timeout' };
    };
    await send(id, 'invite');
  }
  postbox.answer = () => undefined;
  t.is((await administration().health({})).mails.dead, 2);
  for (let time = 0; time < 2; time += 1) {
    t.deepEqual(await mailer().recall({ id: 'one', userUuid: 'ann' }), { result: 'in-flight' });
  }
  t.like(await administration().retry({ by: 'ann', id: 'one' }), {
    refused: { tag: 'queue-record-ineligible' },
  });
  t.like(await administration().retry({ by: 'ann', id: 'two' }), { ok: { record: { id: 'two' } } });
  await clock.advance(minuteMs);
  t.deepEqual(texts(), ['The text of two.']);
});

/** A mail that is being sent when its source tells the queue to give it back. Resolves to what says what came of it. */
async function recalledInFlight(t: ExecutionContext, source: z.infer<typeof mailSourceSchema>) {
  const started = await start(t);
  const { postbox, send, ann, clock } = started;
  let conclude: (result: SendResult | undefined) => void = () => {};
  postbox.answer = async ({ handOver }) => {
    await handOver();
    return new Promise((resolve) => {
      conclude = resolve;
    });
  };
  await send('one', source);
  await ann().recall({ id: 'one' });
  await clock.advance(4_000);
  postbox.answer = () => undefined;
  return { ...started, conclude: (result: SendResult | undefined) => conclude(result) };
}

const putOff: SendResult = { result: 'transient', failure: 'provider' };
const away: SendResult = { result: 'unable', failure: 'connection' };
const uncertain: SendResult = { result: 'uncertain', failure: 'timeout' };

for (const [source, result] of [
  ['invite', putOff],
  ['invite', away],
  ['dead-man-switch', putOff],
  ['dead-man-switch', uncertain],
] as const) {
  test(`${source}: told back while it is being sent, a mail that came out ${result.result} is not tried again`, async (t) => {
    const { conclude, receivedOutcomes, clock, texts, administration } = await recalledInFlight(t, source);
    conclude(result);
    t.like((await receivedOutcomes()).at(-1), { id: 'one', outcome: 'recalled' });
    await clock.advance(30 * minuteMs);
    t.deepEqual(texts(), []);
    t.like(await administration().health({}), { mails: { ready: 0, waiting: 0, leased: 0, dead: 0 } });
  });
}

for (const result of [uncertain, { result: 'rejected', failure: 'rejected' }] as const) {
  test(`told back while it is being sent, a mail that came out ${result.result} is dead and says nothing any more`, async (t) => {
    const { conclude, receivedOutcomes, administration } = await recalledInFlight(t, 'invite');
    conclude(result);
    t.like((await receivedOutcomes()).at(-1), { outcome: 'dead' });
    t.like(await administration().health({}), { mails: { dead: 1 } });
    t.like(await administration().retry({ by: 'ann', id: 'one' }), {
      refused: { tag: 'queue-record-ineligible' },
    });
  });
}

test('told back while one relay is asked, a mail does not go to the next', async (t) => {
  const { administration, postbox, send, ann, clock, receivedOutcomes } = await start(t);
  const relay = {
    kind: 'smtp',
    name: '',
    enabled: true,
    from: 'notes@home.test',
    host: '127.0.0.1',
    port: 25,
  };
  const relays = ['one', 'two'].map((id) => ({ ...relay, id, security: 'none', username: null }));
  const list = { by: 'ann', relays, fallbackPolicy: { mode: 'next-enabled' } };
  t.true('ok' in (await administration().setRelays(list)));
  const requests: string[] = [];
  let putItOff = () => {};
  postbox.answer = ({ relay }) => {
    requests.push(relay.id);
    return new Promise((resolve) => {
      putItOff = () => resolve(putOff);
    });
  };
  await send('one');
  await ann().recall({ id: 'one' });
  await clock.advance(4_000);
  putItOff();
  t.like((await receivedOutcomes()).at(-1), { outcome: 'recalled' });
  t.deepEqual(requests, ['one']);
});

test('told back while it is being sent, a mail that was taken was taken', async (t) => {
  const { conclude, receivedOutcomes } = await recalledInFlight(t, 'invite');
  conclude({ result: 'sent' });
  t.like((await receivedOutcomes()).at(-1), { outcome: 'accepted' });
});

test('told back before a crash with the mail handed over, it is not sent again', async (t) => {
  const { restart, clock, texts, receivedOutcomes } = await recalledInFlight(t, 'dead-man-switch');
  await restart();
  await clock.advance(45_000);
  t.like((await receivedOutcomes()).at(-1), { outcome: 'recalled' });
  t.deepEqual(texts(), []);
});

test('after a crash before the mail was handed over it is sent once', async (t) => {
  const { postbox, send, restart, clock, texts } = await start(t);
  postbox.answer = () => new Promise(() => {});
  await send('one', 'magic-link');
  await restart();
  postbox.answer = () => undefined;
  await clock.advance(45_000);
  t.deepEqual(texts(), ['The text of one.']);
});

test('mails that somebody waits for are sent before all others', async (t) => {
  const { postbox, send, clock, texts } = await start(t);
  postbox.answer = () => ({ result: 'unable', failure: 'connection' });
  for (let number = 0; number < 20; number += 1) await send(`notice ${number}`.replace(' ', '-'));
  await send('code', 'magic-link');
  postbox.answer = () => undefined;
  await clock.advance(5 * minuteMs);
  t.is(texts().length, 21);
  t.true(texts().indexOf('The text of code.') < 4);
});
