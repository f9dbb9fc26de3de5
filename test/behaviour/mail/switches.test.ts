/** Dead man's switches, over HTTP, with a clock that the tests move. */
import test, { type ExecutionContext } from 'ava';
import { mailerId } from '../../../actors/mailer/contract.ts';
import { MailAdministration } from '../../../actors/mailer/operator-contract.ts';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { type ServerOptions, startServer, type TestServer } from '../../kit/server.ts';

const path = '/v1/dead-man-switches';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const link = 'https://notes.test/?shared=5f1c#0123456789abcdef';
const input = {
  recipientEmail: 'bob@example.org',
  shareUrl: link,
  intervalDays: 30,
  message: 'For you.\nAlice',
};

async function started(t: ExecutionContext, options: ServerOptions = {}) {
  const postbox = new Postbox();
  const server = await startServer(t, { ...mailTo(postbox), ...options });
  const phone = await server.device();
  const make = async (changes: object = {}) => {
    const answer = await phone.call('POST', path, { body: { ...input, ...changes } });
    t.is(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.deadManSwitch as { uuid: string; deadline: number };
  };
  const checkIn = async ({ uuid }: { uuid: string }) => phone.call('POST', `${path}/${uuid}/check-in`);
  const listed = async () => (await phone.call('GET', path)).body.deadManSwitches;
  const mailsTo = (recipient: string) => postbox.messages.filter((each) => each.recipient === recipient);
  const toBob = () => mailsTo('bob@example.org');
  const toOwner = () => mailsTo(phone.account.email);
  /** Advances to this moment, with the server running all the time. */
  const lives = async (untilMs: number) => {
    while (server.clock.nowMs() < untilMs) {
      await server.advance(Math.min(4 * minuteMs, untilMs - server.clock.nowMs()));
    }
    await server.advance(10_000);
  };
  /** Nobody looks more than a day before a deadline, so it makes no difference whether the server runs. */
  const nears = (untilMs: number) => server.advance(untilMs - server.clock.nowMs());
  /** Advances to this many hours before the deadline, with the server running at every look. */
  const comesNear = async (deadline: number, hoursLeft = 1) => {
    for (const left of [24, 12, 6, 3, 1.5, 1]) {
      if (left >= hoursLeft) await nears(deadline - left * hourMs + 10_000);
    }
  };
  /** Advances to just after the deadline. */
  const passes = async (deadline: number) => {
    await comesNear(deadline);
    await lives(deadline);
  };
  const move = async () => {
    const { access, userUuid, password } = phone.account;
    const moved = await server.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      bearer: access,
      body: {
        current_password: password,
        new_password: password,
        new_email: 'alice@new.example',
        pw_nonce: 'nonce',
        api: '20200115',
        version: '004',
      },
    });
    t.is(moved.status, 200);
    await server.advance(10_000);
  };
  const advance = { lives, nears, comesNear, passes };
  return { server, phone, postbox, make, checkIn, listed, mailsTo, toBob, toOwner, move, ...advance };
}

const setBan = ({ host }: TestServer, userUuid: string, banned: boolean) =>
  host.actors.get(UserAdministration, userUuid).ask.operatorSetBan({ banned, reason: null, by: 'operator' });

test('a switch is shown as it was made, and its link is not', async (t) => {
  const { server, phone, make, listed } = await started(t);
  const made = await make();
  t.deepEqual(made, {
    uuid: made.uuid,
    recipientEmail: 'bob@example.org',
    message: 'For you.\nAlice',
    intervalDays: 30,
    deadline: server.clock.nowMs() + 30 * dayMs,
    triggered: false,
    lastCheckInAt: null,
    createdAt: server.clock.nowMs(),
    sendAttempts: 0,
    nextAttemptAt: null,
    lastAttemptAt: null,
    outageGrace: dayMs,
  } as object);
  await server.advance(1_000);
  const second = await make({ recipientEmail: undefined, recipient: 'carol@example.org', message: '  ' });
  t.deepEqual(await listed(), [second, made]);
  const slashed = await phone.call('GET', `${path}/`);
  t.false(JSON.stringify(slashed.body).includes('shared='));
});

test('a deadline can be given instead of an interval, as a number or as text', async (t) => {
  const { server, make } = await started(t);
  const deadline = server.clock.nowMs() + 36 * hourMs;
  const byNumber = await make({ intervalDays: undefined, deadline });
  const byText = await make({ intervalDays: null, deadline: new Date(deadline).toISOString() });
  for (const made of [byNumber, byText]) t.like(made, { deadline, intervalDays: 2 });
});

test('a deadline beside an interval is the first one, and a check-in counts the interval', async (t) => {
  const { server, make, checkIn } = await started(t);
  const deadline = server.clock.nowMs() + 36 * hourMs;
  const made = await make({ intervalDays: 7, deadline });
  t.like(made, { deadline, intervalDays: 7 });
  t.is((await checkIn(made)).body.deadline, server.clock.nowMs() + 7 * dayMs);
});

test('no switch is made that could send nothing', async (t) => {
  const { phone, listed } = await started(t, { mail: {} });
  const refused = await phone.call('POST', path, { body: input });
  t.like(refused, { status: 400, body: { error: { tag: 'email-delivery-unavailable' } } });
  t.deepEqual(await listed(), []);
});

test('one whose answer was lost is made once', async (t) => {
  const { server, phone, listed } = await started(t);
  const lost = server.transport.loseReplyTo('makeSwitch');
  const pending = phone.call('POST', path, { body: input });
  await lost;
  const { status, body } = await server.answered(pending);
  t.is(status, 200);
  t.deepEqual(await listed(), [body.deadManSwitch]);
});

test('it warns its owner a day ahead, fires once, names the account, and tells the owner', async (t) => {
  const { server, phone, make, listed, toBob, toOwner, nears, passes } = await started(t);
  const { deadline, uuid } = await make();
  await nears(deadline - dayMs - minuteMs);
  t.deepEqual(toOwner(), []);
  await nears(deadline - dayMs + minuteMs);
  t.is(toOwner().length, 1);
  t.regex(toOwner()[0]?.text ?? '', /check in before .* sent to bob@example\.org/);
  await passes(deadline);
  const [mail] = toBob();
  t.is(mail?.subject, 'Something was left for you');
  t.true(mail?.text.includes(`\n${link}\n`));
  t.true(mail?.text.includes(phone.account.email));
  t.true(mail?.text.includes('\nFor you.\nAlice\n'));
  t.is(toOwner().length, 2);
  t.false(toOwner().some(({ text }) => text.includes(link)));
  t.like((await listed())[0], { triggered: true, nextAttemptAt: null });
  const trail = await phone.call('GET', `/v1/users/${phone.account.userUuid}/audit-trail`);
  const aboutIt = trail.body.events.filter(({ about }: { about: string }) => about === uuid);
  t.deepEqual(
    aboutIt.map(({ event }: { event: string }) => event),
    ['dead-man-switch-fired', 'dead-man-switch-made'],
  );
  await server.advance(60 * dayMs);
  t.is(toBob().length, 1);
  t.is(toOwner().length, 2);
});

test('a check-in before the deadline wins', async (t) => {
  const { server, make, checkIn, toBob, comesNear, lives, listed } = await started(t);
  const made = await make();
  await comesNear(made.deadline);
  await lives(made.deadline - minuteMs);
  const checked = await checkIn(made);
  t.is(checked.status, 200);
  t.is(checked.body.deadline, server.clock.nowMs() + 30 * dayMs);
  await lives(made.deadline + 2 * hourMs);
  t.deepEqual(toBob(), []);
  t.like((await listed())[0], { triggered: false, deadline: checked.body.deadline });
});

test('a late check-in recalls a mail that nobody is sending, and arms the switch anew', async (t) => {
  const { server, postbox, make, checkIn, toBob, passes, listed } = await started(t);
  postbox.answer = () => ({ result: 'transient', failure: 'rejected' });
  const made = await make();
  await passes(made.deadline);
  t.like((await listed())[0], { triggered: false, sendAttempts: 1 });
  const { deadline } = (await checkIn(made)).body;
  postbox.answer = () => undefined;
  t.like((await listed())[0], {
    triggered: false,
    sendAttempts: 0,
    nextAttemptAt: null,
    lastAttemptAt: null,
    deadline,
  });
  await server.advance(20 * dayMs);
  t.deepEqual(toBob(), []);
  await passes(deadline);
  t.is(toBob().length, 1);
});

test('a check-in while the mail is being sent, which comes to nothing: it is not tried again', async (t) => {
  const { server, postbox, make, checkIn, toBob, passes } = await started(t);
  let putOff = () => {};
  postbox.answer = () =>
    new Promise((resolve) => {
      putOff = () => resolve({ result: 'transient', failure: 'provider' });
    });
  const made = await make();
  await passes(made.deadline);
  t.is((await checkIn(made)).status, 200);
  await server.advance(10_000);
  putOff();
  postbox.answer = () => undefined;
  await server.advance(20 * dayMs);
  t.deepEqual(toBob(), []);
});

test('a check-in that is repeated because its answer was lost counts from when it first came', async (t) => {
  const { server, make, checkIn, listed } = await started(t);
  const made = await make();
  await server.advance(dayMs);
  const lost = server.transport.loseReplyTo('checkIn');
  const pending = checkIn(made);
  await lost;
  const firstMs = server.clock.nowMs();
  const { status, body } = await server.answered(pending);
  t.true(server.clock.nowMs() > firstMs);
  t.deepEqual({ status, deadline: body.deadline }, { status: 200, deadline: firstMs + 30 * dayMs });
  t.like((await listed())[0], { deadline: body.deadline, lastCheckInAt: firstMs });
});

test('a check-in after it fired arms it anew', async (t) => {
  const { make, checkIn, toBob, passes, listed } = await started(t);
  const made = await make({ intervalDays: 2 });
  await passes(made.deadline);
  const { deadline } = (await checkIn(made)).body;
  t.like((await listed())[0], { triggered: false, deadline });
  await passes(deadline);
  t.is(toBob().length, 2);
});

test('a deadline that passed in an outage moves on by as long as the server was away, and its owner is warned', async (t) => {
  const { server, make, toBob, toOwner, nears, comesNear, passes, listed } = await started(t);
  const { deadline } = await make();
  await comesNear(deadline, 3);
  await nears(deadline - 2 * hourMs);
  const warned = toOwner().length;
  await nears(deadline + minuteMs);
  t.deepEqual(toBob(), []);
  t.is(toOwner().length, warned + 1);
  const [moved] = await listed();
  const movedMs = moved.deadline - server.clock.nowMs();
  t.true(movedMs >= 2 * hourMs && movedMs <= 3 * hourMs + minuteMs, `${movedMs}`);
  await passes(moved.deadline);
  t.is(toBob().length, 1);
});

test('one that passed while it was away for ten minutes does not', async (t) => {
  const { make, toBob, nears, comesNear, lives } = await started(t);
  const { deadline } = await make();
  await comesNear(deadline);
  await lives(deadline - 5 * minuteMs);
  await nears(deadline + 5 * minuteMs);
  t.is(toBob().length, 1);
});

test('without a grace it fires at once', async (t) => {
  const { make, toBob, nears } = await started(t, { accounts: { switchOutageGraceMs: 0 } });
  const { deadline } = await make();
  await nears(deadline + 3 * dayMs);
  t.is(toBob().length, 1);
});

test('while no relay is set up nothing is given up', async (t) => {
  const { server, postbox, make, toBob, passes, nears, listed } = await started(t);
  const { deadline } = await make();
  await server.restart({ mail: {} });
  await passes(deadline);
  t.like((await listed())[0], { triggered: false });
  await nears(deadline + 5 * dayMs);
  t.deepEqual(toBob(), []);
  await server.restart(mailTo(postbox));
  await server.advance(2 * hourMs);
  t.is(toBob().length, 1);
});

test('a mail that the recipient refused leaves nothing that could still be sent', async (t) => {
  const { server, postbox, make, passes, listed } = await started(t);
  postbox.answer = ({ message }) =>
    message.recipient === 'bob@example.org' ? { result: 'rejected', failure: 'rejected' } : undefined;
  const { deadline } = await make();
  await passes(deadline);
  t.like(await listed(), [{ triggered: false }]);
  const mail = server.host.actors.get(MailAdministration, mailerId).ask;

  for (const state of ['dead', 'ready'] as const) {
    t.like(await mail.listQueue({ state }), { ok: { records: [] } }, state);
  }
});

test('a deleted switch sends nothing', async (t) => {
  const { phone, make, toBob, passes, listed } = await started(t);
  const made = await make();
  const deleted = await phone.call('DELETE', `${path}/${made.uuid}`);
  t.like(deleted, { status: 200, body: { message: 'Dead man switch deleted' } });
  await passes(made.deadline);
  t.deepEqual([await listed(), toBob()], [[], []]);
  t.is((await phone.call('DELETE', `${path}/${made.uuid}`)).body.error.tag, 'dead-man-switch-not-found');
});

test('nothing is sent for an account that was deleted, not even what was on its way', async (t) => {
  const { server, phone, postbox, make, toBob, passes } = await started(t);
  postbox.answer = () => ({ result: 'transient', failure: 'rejected' });
  const { deadline } = await make();
  await make({ intervalDays: 40 });
  await passes(deadline);
  const { userUuid, password } = phone.account;
  const headers = { 'x-server-password': password };
  t.is((await phone.call('DELETE', `/v1/users/${userUuid}`, { headers })).status, 200);
  postbox.answer = () => undefined;
  await server.advance(50 * dayMs);
  t.deepEqual(toBob(), []);
});

test('nothing is sent for an account while it is banned; afterwards its deadlines move on', async (t) => {
  const { server, phone, make, toBob, toOwner, passes } = await started(t);
  const { deadline } = await make();
  const { userUuid } = phone.account;
  await setBan(server, userUuid, true);
  await passes(deadline + 3 * dayMs);
  t.deepEqual([toBob(), toOwner()], [[], []]);
  await setBan(server, userUuid, false);
  await server.advance(minuteMs);
  t.deepEqual(toBob(), []);
  await passes(server.clock.nowMs() + dayMs);
  t.is(toBob().length, 1);
});

test('a switch warns and writes for the address that the account has then', async (t) => {
  const { make, move, toOwner, nears } = await started(t);
  const { deadline } = await make();
  await move();
  const before = toOwner().length;
  await nears(deadline - dayMs + minuteMs);
  t.is(toOwner().length, before);
});

test('a warning that has not left goes to the new address of the account, and not to the old one', async (t) => {
  const { make, move, mailsTo, toOwner, toBob, postbox, nears, lives } = await started(t);
  const { deadline } = await make();
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await nears(deadline - dayMs + minuteMs);
  await move();
  postbox.answer = () => undefined;
  for (const left of [12, 6, 3, 1.5, 1]) await nears(deadline - left * hourMs + minuteMs);
  await lives(deadline);
  const subjects = (mails: readonly { subject: string }[]) => mails.map(({ subject }) => subject);
  t.deepEqual(subjects(toOwner()), ['The address of your notes has changed']);
  t.deepEqual(subjects(mailsTo('alice@new.example')), [
    "Your dead man's switch is about to fire",
    "Your dead man's switch has fired",
  ]);
  t.is(toBob().length, 1);
});

test('a warning that has left comes again, to the new address of the account', async (t) => {
  const { server, make, move, mailsTo, toOwner, nears } = await started(t);
  const { deadline } = await make();
  await nears(deadline - dayMs + minuteMs);
  const warning = "Your dead man's switch is about to fire";
  t.deepEqual(
    toOwner().map(({ subject }) => subject),
    [warning],
  );
  await move();
  await server.advance(minuteMs);
  t.deepEqual(
    mailsTo('alice@new.example').map(({ subject }) => subject),
    [warning],
  );
});

test('there are a hundred at most', async (t) => {
  const { phone, make } = await started(t);
  for (let made = 0; made < 100; made += 1) await make();
  const refused = await phone.call('POST', path, { body: input });
  t.like(refused, { status: 409, body: { error: { tag: 'dead-man-switch-limit' } } });
});
