/** Reminders by e-mail, over HTTP, with a clock that the tests move. */
import test, { type ExecutionContext } from 'ava';
import { mailerId } from '../../../actors/mailer/contract.ts';
import { MailAdministration } from '../../../actors/mailer/operator-contract.ts';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { changeEmail } from '../../kit/account.ts';
import { Device } from '../../kit/device.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { type ServerOptions, startServer } from '../../kit/server.ts';

const path = '/v1/email-reminders';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const open = { accounts: { emailReminders: true } };

async function started(t: ExecutionContext, options: ServerOptions = open) {
  const postbox = new Postbox();
  const server = await startServer(t, { ...mailTo(postbox), ...options });
  const phone = await server.device();
  const want = (value: string) =>
    phone.call('PUT', `/v1/users/${phone.account.userUuid}/settings`, {
      body: { name: 'EMAIL_REMINDERS_ENABLED', value },
    });
  const make = async (inMs: number, message = 'Water the plants') => {
    const body = { dueAt: new Date(server.clock.nowMs() + inMs).toISOString(), message };
    const answer = await phone.call('POST', path, { body });
    t.is(answer.status, 200, answer.text);
    return answer.body.emailReminder as { uuid: string; dueAt: number };
  };
  const listed = async () => (await phone.call('GET', path)).body.emailReminders;
  return { server, phone, postbox, want, make, listed };
}

test('a reminder is mailed to the account when it is due, once, and is then shown as sent', async (t) => {
  const { server, phone, postbox, make, listed } = await started(t);
  const later = await make(2 * hourMs, 'Later');
  const made = await make(hourMs, ' Water\r\n\r\nthe\u2028plants ');
  t.deepEqual(made, {
    uuid: made.uuid,
    dueAt: server.clock.nowMs() + hourMs,
    message: 'Water the plants',
    sent: false,
    createdAt: server.clock.nowMs(),
  } as object);
  t.deepEqual(await listed(), [made, later]);
  await server.advance(hourMs - minuteMs);
  t.deepEqual(postbox.messages, []);
  await server.advance(2 * minuteMs);
  const [message, ...others] = postbox.messages;
  t.deepEqual(others, []);
  t.is(message?.recipient, phone.account.email);
  t.is(message?.subject, 'Reminder: Water the plants');
  t.true(message?.text.includes(new Date(made.dueAt).toISOString()));
  t.like((await listed())[0], { uuid: made.uuid, sent: true });
});

test('one that was sent leaves the list after thirty days', async (t) => {
  const { server, make, listed } = await started(t);
  await make(-hourMs);
  await server.advance(minuteMs);
  t.like(await listed(), [{ sent: true }]);
  await server.advance(30 * dayMs);
  t.deepEqual(await listed(), []);
});

test('with EMAIL_REMINDER_NO_RECORDS it leaves at once', async (t) => {
  const { server, postbox, make, listed } = await started(t, {
    accounts: { emailReminders: true, emailReminderNoRecords: true },
  });
  await make(minuteMs);
  await server.advance(5 * minuteMs);
  t.is(postbox.messages.length, 1);
  t.deepEqual(await listed(), []);
});

test('feature flags are read when it is due: the user’s', async (t) => {
  const { server, postbox, want, make } = await started(t);
  await make(hourMs);
  await want('false');
  await server.advance(2 * hourMs);
  t.deepEqual(postbox.messages, []);
  await want('true');
  await server.advance(20 * minuteMs);
  t.is(postbox.messages.length, 1);
  await make(hourMs);
  await want('false');
  await server.advance(2 * hourMs);
  t.is(postbox.messages.length, 1);
});

test('feature flags are read when it is due: the operator’s', async (t) => {
  const { server, postbox, make } = await started(t);
  await make(hourMs);
  await server.restart({ accounts: { emailReminders: false } });
  await server.advance(2 * hourMs);
  t.deepEqual(postbox.messages, []);
  await server.restart(open);
  await server.advance(20 * minuteMs);
  t.is(postbox.messages.length, 1);
});

test('when a gate opens late, what is over a week old has expired and the rest leaves little by little', async (t) => {
  const { server, postbox, want, make, listed } = await started(t);
  for (let each = 0; each < 3; each += 1) await make(minuteMs, `old ${each}`);
  for (let each = 0; each < 12; each += 1) await make(7 * dayMs, `late ${each}`);
  await want('false');
  await server.advance(7 * dayMs + hourMs);
  await want('true');
  while (postbox.messages.length === 0) await server.advance(minuteMs / 2);
  t.is(postbox.messages.length, 5);
  for (let passed = 0; passed < 5; passed += 1) await server.advance(minuteMs);
  t.is(postbox.messages.length, 12);
  t.false(postbox.messages.some(({ subject }) => subject.includes('old')));
  t.is((await listed()).filter(({ sent }: { sent: boolean }) => !sent).length, 3);
});

test('none is made where none could be sent, and the answer says why', async (t) => {
  const body = { dueAt: Date.now(), message: 'Water the plants' };
  for (const [options, tag] of [
    [{ accounts: { emailReminders: false } }, 'email-reminders-disabled'],
    [{ mail: {} }, 'email-delivery-unavailable'],
  ] as const) {
    const { phone, listed } = await started(t, options);
    t.like(await phone.call('POST', path, { body }), { status: 400, body: { error: { tag } } });
    t.deepEqual(await listed(), []);
  }
  const { server } = await started(t);
  const nobody = await server.device('nobody');
  const refused = await nobody.call('POST', path, { body });
  t.like(refused, { status: 400, body: { error: { tag: 'email-reminders-disabled' } } });
});

test('until a user turns reminders off they are made and sent; then none is made, and the answer says why', async (t) => {
  const { server, phone, postbox, want, make, listed } = await started(t);
  const setting = `/v1/users/${phone.account.userUuid}/settings/email_reminders_enabled`;
  t.is((await phone.call('GET', setting)).body.setting.value, 'true');
  await make(minuteMs);
  await server.advance(5 * minuteMs);
  t.is(postbox.messages.length, 1);
  t.is((await want('no')).body.setting.value, 'false');
  const refused = await phone.call('POST', path, { body: { dueAt: server.clock.nowMs(), message: 'x' } });
  t.like(refused, { status: 400, body: { error: { tag: 'email-reminders-disabled' } } });
  t.regex(refused.body.error.message, /You have turned reminders by e-mail off/);
  t.is((await listed()).length, 1);
});

test('without settings of their own, servers that can send mail send reminders', async (t) => {
  const { server, postbox, make } = await started(t, {});
  await make(minuteMs);
  await server.advance(5 * minuteMs);
  t.is(postbox.messages.length, 1);
});

test('one whose answer was lost is made once', async (t) => {
  const { server, phone, listed } = await started(t);
  const lost = server.transport.loseReplyTo('makeReminder');
  const pending = phone.call('POST', path, {
    body: { dueAt: server.clock.nowMs() + hourMs, message: 'once' },
  });
  await lost;
  const { status, body } = await server.answered(pending);
  t.is(status, 200);
  t.deepEqual(await listed(), [body.emailReminder]);
});

test('without a relay it waits', async (t) => {
  const { server, postbox, make } = await started(t);
  await make(minuteMs);
  await server.restart({ ...open, mail: {} });
  await server.advance(5 * hourMs);
  await server.restart({ ...open, ...mailTo(postbox) });
  await server.advance(2 * hourMs);
  t.is(postbox.messages.length, 1);
});

test('nothing is sent of what was deleted, or for an account that is banned or gone', async (t) => {
  const { server, phone, postbox, make } = await started(t);
  const { uuid } = await make(hourMs);
  t.is((await phone.call('DELETE', `${path}/${uuid}`)).body.message, 'Email reminder deleted');
  await make(hourMs);
  const { userUuid, access } = phone.account;
  const administration = server.host.actors.get(UserAdministration, userUuid).ask;
  await administration.operatorSetBan({ banned: true, reason: null, by: 'operator' });
  await server.advance(2 * hourMs);
  t.deepEqual(postbox.messages, []);
  await administration.operatorSetBan({ banned: false, reason: null, by: 'operator' });
  await server.advance(5 * minuteMs);
  t.is(postbox.messages.length, 1);
  t.is((await server.call('GET', path, { bearer: access })).status, 401);
  const again = await phone.another();
  const body = { dueAt: server.clock.nowMs() + hourMs, message: 'x' };
  t.is((await again.call('POST', path, { body })).status, 200);
  const headers = { 'x-server-password': phone.account.password };
  t.is((await again.call('DELETE', `/v1/users/${userUuid}`, { headers })).status, 200);
  await server.advance(3 * hourMs);
  t.is(postbox.messages.filter(({ subject }) => subject.startsWith('Reminder')).length, 1);
});

test('a reminder that was refused and is deleted then leaves nothing that could still be sent', async (t) => {
  const { server, phone, postbox, make, listed } = await started(t);
  postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
  const { uuid } = await make(hourMs);
  await server.advance(2 * hourMs);
  t.is((await listed()).length, 1);
  const mail = server.host.actors.get(MailAdministration, mailerId).ask;
  const dead = { state: 'dead' } as const;
  t.like(await mail.listQueue(dead), { ok: { records: [{ source: 'email-reminder' }] } });
  t.is((await phone.call('DELETE', `${path}/${uuid}`)).status, 200);
  await server.advance(10_000);
  t.like(await mail.listQueue(dead), { ok: { records: [] } });
});

test('a mail that waits while its account is banned leaves once the ban is over, and no sooner', async (t) => {
  const { server, phone, postbox, make } = await started(t);
  postbox.answer = () => busy;
  await make(minuteMs);
  await server.advance(minuteMs + 10_000);
  const setBan = (banned: boolean) =>
    server.host.actors
      .get(UserAdministration, phone.account.userUuid)
      .ask.operatorSetBan({ banned, reason: null, by: 'operator' });
  await setBan(true);
  postbox.answer = () => undefined;
  await server.advance(10 * minuteMs);
  await server.advance(hourMs);
  t.deepEqual(postbox.messages, []);
  await setBan(false);
  await server.advance(10 * minuteMs);
  t.is(postbox.messages.length, 1);
});

test('a message is cut at 500 characters, and bad ones are refused', async (t) => {
  const { phone, make, listed } = await started(t);
  await make(hourMs, `${'x'.repeat(499)}😀`);
  t.is((await listed())[0].message, 'x'.repeat(499));
  for (const body of [
    { dueAt: 1 },
    { message: 'x' },
    { dueAt: 'soon', message: 'x' },
    { dueAt: 1e300, message: 'x' },
    { dueAt: null, message: 'x' },
    { dueAt: 1, message: ' \r\n ' },
    { dueAt: 1, message: 7 },
    { dueAt: 1, message: '\ud800' },
  ]) {
    const answer = await phone.call('POST', path, { body });
    t.like(answer, { status: 400, body: { error: { tag: 'invalid-email-reminder' } } }, JSON.stringify(body));
  }
  t.is((await phone.call('POST', `${path}/`, { body: { time: 1, message: 'x' } })).status, 200);
});

test('there are as many as the setting allows', async (t) => {
  const { phone, make } = await started(t, { accounts: { emailRemindersMax: 2 } });
  await make(hourMs);
  await make(hourMs);
  const answer = await phone.call('POST', path, { body: { dueAt: 1, message: 'x' } });
  t.like(answer, { status: 400, body: { error: { tag: 'email-reminder-limit' } } });
  t.regex(answer.body.error.message, /reached the maximum/);
});

test('others’ reminders are not there, and a session that may only read changes none', async (t) => {
  const { server, phone, make, listed } = await started(t);
  const { uuid } = await make(hourMs);
  const eve = await server.device('eve@example.org');
  t.like(await eve.call('DELETE', `${path}/${uuid}`), {
    status: 404,
    body: { error: { tag: 'email-reminder-not-found' } },
  });
  const keys = { label: 'b', scope: 'read', wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const { token } = (await phone.call('POST', '/v1/mcp-tokens', { body: keys })).body;
  const opened = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
  const reader = new Device(server, { ...phone.account, access: opened.body.session.access_token });
  for (const [method, of] of [
    ['POST', path],
    ['DELETE', `${path}/${uuid}`],
  ] as const) {
    const answer = await reader.call(method, of, { body: { dueAt: 1, message: 'x' } });
    t.like(answer, { status: 403, body: { error: { tag: 'read-only-access' } } });
  }
  t.is((await listed()).length, 1);
});

const busy = { result: 'transient', failure: 'provider' } as const;
const isReminder = ({ subject }: { subject: string }) => subject.startsWith('Reminder');

test('one that the queue has when the account’s address changes goes to the new one, and to that alone', async (t) => {
  const { server, phone, postbox, make } = await started(t);
  postbox.answer = () => busy;
  await make(minuteMs);
  await server.advance(minuteMs + 10_000);
  const moved = await server.answered(changeEmail(server, phone.account, 'alice-new@example.org'));
  t.is(moved.status, 200);
  postbox.answer = () => undefined;
  await server.advance(10 * minuteMs);
  await server.advance(hourMs);
  t.deepEqual(
    postbox.messages.filter(isReminder).map(({ recipient }) => recipient),
    ['alice-new@example.org'],
  );
});

test('one that is being handed over when the address changes is sent to the old one, and not again', async (t) => {
  const { server, phone, postbox, make } = await started(t);
  let answer = () => {};
  postbox.answer = () =>
    new Promise((resolve) => {
      answer = () => resolve(undefined);
    });
  await make(minuteMs);
  await server.advance(minuteMs + 10_000);
  t.is((await server.answered(changeEmail(server, phone.account, 'alice-new@example.org'))).status, 200);
  postbox.answer = () => undefined;
  answer();
  await server.advance(10 * minuteMs);
  await server.advance(hourMs);
  t.is(postbox.messages.filter(isReminder).length, 1);
});

test('one that may have arrived at the old address goes to the new one under the same Message-ID', async (t) => {
  const { server, phone, postbox, make } = await started(t);
  const ids: string[] = [];
  let cut = () => {};
  postbox.answer = async ({ handOver, message }) => {
    if (!isReminder(message)) return undefined;
    ids.push(message.messageId);
    await handOver();
    return new Promise((resolve) => {
      cut = () => resolve({ result: 'uncertain', failure: 'timeout' });
    });
  };
  await make(minuteMs);
  await server.advance(minuteMs + 10_000);
  t.is((await server.answered(changeEmail(server, phone.account, 'alice-new@example.org'))).status, 200);
  postbox.answer = () => undefined;
  cut();
  await server.advance(10 * minuteMs);
  await server.advance(hourMs);
  t.deepEqual(
    postbox.messages.filter(isReminder).map(({ recipient, messageId }) => [recipient, messageId]),
    [['alice-new@example.org', ids[0]]],
  );
});

test('EMAIL_REMINDER_FROM is the sender of reminders, and of nothing else', async (t) => {
  const postbox = new Postbox();
  const { mail } = mailTo(postbox);
  const reminderFrom = { name: 'Reminders', address: 'reminders@notes.test' };
  const { server, phone, make } = await started(t, {
    ...open,
    mailSender: postbox,
    mail: { ...mail, reminderFrom },
  });
  await make(minuteMs);
  await server.advance(minuteMs + 10_000);
  t.deepEqual(
    postbox.messages.map(({ from }) => from),
    [reminderFrom],
  );
  await server.answered(changeEmail(server, phone.account, 'alice-new@example.org'));
  await server.advance(minuteMs);
  t.deepEqual(postbox.messages.at(-1)?.from, mail.from);
});
