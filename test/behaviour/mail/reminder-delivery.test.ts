/** Published reminders, over HTTP, with a clock that the tests move, and a relay and messengers in memory. */
import test from 'ava';
import { mailerId } from '../../../actors/mailer/contract.ts';
import { MailAdministration } from '../../../actors/mailer/operator-contract.ts';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { changeEmail } from '../../kit/account.ts';
import { Chats } from '../../kit/chats.ts';
import { type Delivering, dayMs, delivering, hourMs, minuteMs, path } from '../../kit/delivering.ts';

const toTelegram = { channel: 'telegram', destination: '4711', enabled: true };
const toMail = { channel: 'email', destination: 'bob@example.org', enabled: true };

test('a reminder goes to the messenger when it is due, once, and is accepted, then sent', async (t) => {
  const { server, chats, publish, configure, reminderById } = await delivering(t);
  t.like(await configure(toTelegram), { status: 200, body: { config: toTelegram } });
  const dueAtUtc = new Date(server.clock.nowMs() + hourMs).toISOString();
  const answer = await publish({ id: 'one', message: 'Water\n<b>the</b> plants', dueAtUtc });
  t.is(answer.status, 201);
  const { createdAt } = answer.body.reminder;
  t.deepEqual(answer.body.reminder, {
    id: 'one',
    message: 'Water\n<b>the</b> plants',
    dueAtUtc,
    sent: false,
    state: 'queued',
    attempts: 0,
    createdAt,
    updatedAt: createdAt,
  });
  await server.advance(hourMs - minuteMs);
  t.deepEqual(chats.messages, []);
  await server.advance(minuteMs + 5_000);
  const text = `Reminder (due ${dueAtUtc}): Water\n<b>the</b> plants`;
  t.deepEqual(chats.messages, [{ channel: 'telegram', destination: '4711', text }]);
  t.like(await reminderById('one'), { state: 'accepted', sent: false, attempts: 1 });
  await server.advance(2 * minuteMs);
  t.like(await reminderById('one'), { state: 'sent', sent: true, createdAt });
  await server.advance(dayMs);
  t.is(chats.messages.length, 1);
});

test('or by mail, through the queue, under a subject that nobody wrote', async (t) => {
  const { server, postbox, publish, configure, reminderById, isoIn } = await delivering(t);
  await configure(toMail);
  const dueAtUtc = isoIn(minuteMs);
  await publish({ id: 'one', message: undefined, dueAtUtc });
  await server.advance(minuteMs + 10_000);
  t.is(postbox.messages.length, 1);
  t.like(postbox.messages[0], {
    recipient: 'bob@example.org',
    subject: 'Reminder',
    text: `Reminder (due ${dueAtUtc})\n`,
  });
  t.like(await reminderById('one'), { state: 'accepted' });
  await server.advance(2 * minuteMs);
  t.like(await reminderById('one'), { state: 'sent', attempts: 1 });
});

test('feature flags are read with every request; only the ways to look at them and to leave are open', async (t) => {
  const { server, phone, want, publish, optOut } = await delivering(t, {}, false);
  const config = async () => (await server.answered(phone.call('GET', `${path}/config/`))).body;
  t.deepEqual(await config(), {
    reminderDeliveryEnabled: true,
    allowed: false,
    available: false,
    channels: { email: true, telegram: true, whatsapp: true },
  });
  const rows = [
    ['GET', `${path}/delivery-config`],
    ['PUT', `${path}/delivery-config`],
    ['GET', path],
    ['POST', `${path}/`],
    ['DELETE', `${path}/one`],
  ] as const;
  const refusedAs = async (tag: string) => {
    for (const [method, of] of rows) {
      const answer = await server.answered(phone.call(method, of));
      t.like(answer, { status: 403, body: { error: { tag } } }, `${method} ${of}`);
    }
    t.deepEqual((await optOut()).body, { optedOut: true, alreadyDispatched: false });
  };
  await refusedAs('reminder-delivery-not-allowed');
  await want('true');
  t.is((await publish({ id: 'one' })).status, 201);
  t.like(await config(), { allowed: true, available: true });
  await server.restart({ accounts: {}, mail: {}, messengers: new Chats(['whatsapp']) });
  t.deepEqual(await config(), {
    reminderDeliveryEnabled: false,
    allowed: true,
    available: false,
    channels: { email: false, telegram: false, whatsapp: true },
  });
  await refusedAs('reminder-delivery-disabled');
});

test('nothing leaves while the user’s gate is closed, the configuration is off, or the account is banned', async (t) => {
  const { server, phone, chats, want, publish, configure, reminderById } = await delivering(t);
  await configure(toTelegram);
  await publish({ id: 'one' });
  await want('false');
  await server.advance(hourMs);
  t.deepEqual(chats.messages, []);
  await want('true');
  t.is((await configure({ ...toTelegram, enabled: false })).status, 200);
  await server.advance(hourMs);
  t.deepEqual(chats.messages.length, 0);
  t.like(await reminderById('one'), { state: 'queued', attempts: 0 });
  await configure(toTelegram);
  await server.advance(minuteMs);
  t.is(chats.messages.length, 1);
  await publish({ id: 'two' });
  const administration = server.host.actors.get(UserAdministration, phone.account.userUuid).ask;
  await administration.operatorSetBan({ banned: true, reason: null, by: 'operator' });
  await server.advance(hourMs);
  t.is(chats.messages.length, 1);
  await administration.operatorSetBan({ banned: false, reason: null, by: 'operator' });
  await server.advance(minuteMs);
  t.is(chats.messages.length, 2);
});

test('a mail that is queued when a gate closes does not leave, and leaves once when it opens again', async (t) => {
  const { server, postbox, want, publish, configure, reminderById } = await delivering(t);
  await configure(toMail);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await publish({ id: 'one' });
  await server.advance(minuteMs + 10_000);
  t.like(await reminderById('one'), { state: 'claimed', attempts: 1, error: 'transient' });
  await want('false');
  postbox.answer = () => undefined;
  await server.advance(3 * hourMs);
  t.deepEqual(postbox.messages, []);
  await want('true');
  await server.advance(minuteMs);
  t.is(postbox.messages.length, 1);
});

test('nor does it where the operator has closed theirs', async (t) => {
  const { server, postbox, publish, configure } = await delivering(t);
  await configure(toMail);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await publish({ id: 'one' });
  await server.advance(minuteMs + 10_000);
  postbox.answer = () => undefined;
  await server.restart({ accounts: { reminderDelivery: false } });
  await server.advance(3 * hourMs);
  t.deepEqual(postbox.messages, []);
  await server.restart({ accounts: { reminderDelivery: true } });
  for (let passed = 0; passed < 4; passed += 1) await server.advance(10 * minuteMs);
  t.is(postbox.messages.length, 1);
});

/** The ids of the mails that administrators see in this state. */
async function mailsIn({ server }: Delivering, state: 'ready' | 'dead'): Promise<readonly string[]> {
  const page = await server.host.actors.get(MailAdministration, mailerId).ask.listQueue({ state });
  if ('refused' in page) throw new Error(page.refused.message);
  return page.ok.records.map(({ id }) => id);
}

const closings: Readonly<Record<string, (scene: Delivering) => Promise<unknown>>> = {
  'the user turns their flag off': ({ want }) => want('false'),
  'the account is banned': ({ server, phone }) =>
    server.host.actors
      .get(UserAdministration, phone.account.userUuid)
      .ask.operatorSetBan({ banned: true, reason: null, by: 'operator' }),
};
for (const [what, close] of Object.entries(closings)) {
  test(`once ${what}, an administrator cannot send a mail that had failed`, async (t) => {
    const scene = await delivering(t);
    const { server, postbox, publish, configure, reminderById } = scene;
    await configure(toMail);
    postbox.answer = () => ({ result: 'rejected', failure: 'rejected' });
    await publish({ id: 'one' });
    await server.advance(minuteMs + 10_000);
    t.like(await reminderById('one'), { state: 'failed', error: 'rejected' });
    const [id = ''] = await mailsIn(scene, 'dead');
    await close(scene);
    await server.advance(10_000);
    t.deepEqual(await mailsIn(scene, 'dead'), []);
    postbox.answer = () => undefined;
    const mails = server.host.actors.get(MailAdministration, mailerId).ask;
    t.like(await mails.retry({ by: 'admin', id }), { refused: { tag: 'queue-record-not-found' } });
    await server.advance(minuteMs);
    t.deepEqual(postbox.messages, []);
  });
}

test('a mail that an administrator throws away was sent by nobody: its reminder has failed, and can be deleted', async (t) => {
  const scene = await delivering(t);
  const { server, postbox, publish, configure, remove, reminderById } = scene;
  await configure(toMail);
  postbox.answer = () => ({ result: 'unable', failure: 'timeout' });
  await publish({ id: 'one' });
  await server.advance(minuteMs + 10_000);
  const [id = ''] = await mailsIn(scene, 'ready');
  await server.host.actors.get(MailAdministration, mailerId).ask.discard({ by: 'admin', id });
  await server.advance(10_000);
  t.like(await reminderById('one'), { state: 'failed', error: 'transient' });
  t.is((await remove('one')).status, 200);
});

test('a delivery that fails for now is tried after 1, 5, 15, 60 and 360 minutes; then it has failed', async (t) => {
  const { server, chats, publish, configure, reminderById } = await delivering(t);
  await configure(toTelegram);
  const timesMs: number[] = [];
  chats.answer = () => {
    timesMs.push(server.clock.nowMs());
    return { result: 'transient', failure: 'transient' };
  };
  await publish({ id: 'one' });
  for (const [attempts, minutes] of [1, 1, 5, 15, 60, 360].entries()) {
    await server.advance(minutes * minuteMs + 5_000);
    if (attempts < 5)
      t.like(await reminderById('one'), { state: 'queued', error: 'transient', attempts: attempts + 1 });
  }
  const waitedMinutes = timesMs.slice(1).map((atMs, index) => (atMs - (timesMs[index] ?? 0)) / minuteMs);
  t.deepEqual(waitedMinutes.map(Math.floor), [1, 5, 15, 60, 360]);
  t.like(await reminderById('one'), { state: 'failed', error: 'transient', attempts: 6 });
  await server.advance(7 * dayMs);
  t.is(chats.messages.length, 6);
});

test('a refused reminder has failed; a provider that takes nothing at all is not held against it', async (t) => {
  const { server, chats, publish, configure, reminderById } = await delivering(t);
  await configure(toTelegram);
  chats.answer = () => ({ result: 'rejected' });
  await publish({ id: 'rejected' });
  await server.advance(minuteMs + 5_000);
  t.like(await reminderById('rejected'), { state: 'failed', error: 'rejected', attempts: 1 });
  chats.answer = () => ({ result: 'unable', failure: 'transient', retryAfterMs: 2 * hourMs });
  await publish({ id: 'unable' });
  await server.advance(minuteMs + 5_000);
  t.like(await reminderById('unable'), { state: 'queued', error: 'transient', attempts: 0 });
  chats.answer = () => undefined;
  await server.advance(2 * hourMs - 2 * minuteMs);
  t.is(chats.messages.length, 2);
  await server.advance(10 * minuteMs);
  t.is(chats.messages.length, 3);
});

test('without the provider’s credentials it waits, and nothing counts as an attempt', async (t) => {
  const { server, publish, configure, reminderById } = await delivering(t, { messengers: new Chats([]) });
  await configure(toTelegram);
  await publish({ id: 'one' });
  await server.advance(hourMs);
  t.like(await reminderById('one'), { state: 'queued', error: 'not-configured', attempts: 0 });
  const chats = new Chats();
  await server.restart({ accounts: { reminderDelivery: true }, messengers: chats });
  await server.advance(20 * minuteMs);
  t.is(chats.messages.length, 1);
});

test('one account has so many messages in a day, and one leaves after another', async (t) => {
  const accounts = { reminderMessagesPerDay: 3 };
  const { server, chats, publish, configure, listed } = await delivering(t, { accounts });
  await configure(toTelegram);
  let running = 0;
  let mostAtOnce = 0;
  chats.answer = async () => {
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    await Promise.resolve();
    running -= 1;
    return undefined;
  };
  for (let each = 0; each < 5; each += 1) await publish({ id: `${each}` });
  await server.advance(2 * minuteMs);
  t.is(chats.messages.length, 3);
  await server.advance(hourMs);
  t.is(chats.messages.length, 3);
  t.is((await listed()).filter(({ state }: { state: string }) => state === 'queued').length, 2);
  await server.advance(dayMs);
  t.is(chats.messages.length, 5);
  t.is(mostAtOnce, 1);
});

test('a few of very many due reminders are with the queue at a time', async (t) => {
  const { server, postbox, publish, configure, listed } = await delivering(t, {
    mail: {
      host: 'localhost',
      from: { name: '', address: 'notes@notes.test' },
      othersPerDay: 0,
      mailboxPerDay: 0,
    },
  });
  await configure(toMail);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  for (let each = 0; each < 45; each += 1) await publish({ id: `${each}` });
  await server.advance(2 * minuteMs);
  const claimed = (await listed()).filter(({ state }: { state: string }) => state === 'claimed');
  t.is(claimed.length, 20);
  postbox.answer = () => undefined;
  await server.advance(5 * minuteMs);
  await server.advance(minuteMs);
  t.is(postbox.messages.length, 45);
});

test('an account that is deleted leaves nothing that is sent', async (t) => {
  const { server, phone, chats, postbox, publish, configure } = await delivering(t);
  await configure(toMail);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await publish({ id: 'mail' });
  await publish({
    id: 'chat',
    channel: 'whatsapp',
    destination: '+4915112345678',
    dueAtUtc: '2026-03-01T00:00Z',
  });
  await server.advance(minuteMs + 10_000);
  const headers = { 'x-server-password': phone.account.password };
  const gone = await server.answered(
    phone.call('DELETE', `/v1/users/${phone.account.userUuid}`, { headers }),
  );
  t.is(gone.status, 200);
  postbox.answer = () => undefined;
  // First up to the retry of the mail, but not so far that it is too late for it.
  await server.advance(10 * minuteMs);
  await server.advance(90 * dayMs);
  t.deepEqual([...postbox.messages, ...chats.messages], []);
});

test('an opt-out that is refused calls no mail back, and its attempts go on where they were', async (t) => {
  const { server, chats, postbox, publish, configure, optOut, reminderById } = await delivering(t);
  await configure(toMail);
  let attempts = 0;
  postbox.answer = () => {
    attempts += 1;
    return { result: 'transient', failure: 'provider' };
  };
  chats.answer = () => new Promise<undefined>(() => {});
  await publish({ id: 'mail' });
  await publish({ id: 'chat', channel: 'telegram', destination: '4711' });
  await server.advance(minuteMs + 10_000);
  t.is((await optOut()).status, 409);
  await server.advance(10_000);
  t.is(attempts, 1);
  t.like(await reminderById('mail'), { state: 'claimed', attempts: 1 });
});

test('an opt-out tells of an occurrence that was delivered before the reminder was moved to a later time', async (t) => {
  const { server, chats, publish, configure, optOut, reminderById, isoIn } = await delivering(t);
  await configure(toTelegram);
  await publish({ id: 'one' });
  await server.advance(minuteMs + 10_000);
  t.is(chats.messages.length, 1);
  await publish({ id: 'one', dueAtUtc: isoIn(hourMs) });
  await publish({ id: 'one', dueAtUtc: isoIn(2 * hourMs) });
  t.like(await reminderById('one'), { state: 'queued', sent: false });
  t.deepEqual((await optOut()).body, { optedOut: true, alreadyDispatched: true });
});

test('a change of the account’s address changes nothing of where its published reminders go', async (t) => {
  const { server, phone, postbox, publish, configure } = await delivering(t);
  await configure(toMail);
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  await publish({ id: 'one' });
  await server.advance(minuteMs + 10_000);
  postbox.answer = () => undefined;
  const moved = await server.answered(changeEmail(server, phone.account, 'alice-new@example.org'));
  t.is(moved.status, 200);
  await server.advance(10 * minuteMs);
  const reminders = postbox.messages.filter(({ subject }) => subject === 'Reminder');
  t.deepEqual(
    reminders.map(({ recipient }) => recipient),
    ['bob@example.org'],
  );
});

test('publishing again: the same changes nothing, a change makes another occurrence, and both keep when it was made', async (t) => {
  const { server, chats, publish, configure, reminderById, isoIn } = await delivering(t);
  await configure(toTelegram);
  const dueAtUtc = isoIn(hourMs);
  const first = await publish({ id: ' one ', dueAtUtc });
  await server.advance(1_000);
  const same = await publish({ id: 'one', dueAtUtc });
  t.is(same.status, 200);
  t.deepEqual(same.body, first.body);
  const changed = await publish({ id: 'one', message: 'Feed the cat', dueAtUtc });
  t.like(changed, { status: 200, body: { reminder: { state: 'queued', message: 'Feed the cat' } } });
  t.is(changed.body.reminder.createdAt, first.body.reminder.createdAt);
  await server.advance(2 * hourMs);
  t.is(chats.messages.length, 1);
  t.like(await publish({ id: 'one', message: 'Edited', dueAtUtc }), {
    body: { reminder: { state: 'sent', message: 'Edited' } },
  });
  await server.advance(hourMs);
  t.is(chats.messages.length, 1);
  t.like(await publish({ id: 'one', message: 'Edited', dueAtUtc: isoIn(hourMs) }), {
    body: { reminder: { state: 'queued', sent: false, attempts: 0 } },
  });
  await server.advance(2 * hourMs);
  t.is(chats.messages.length, 2);
  t.like(await reminderById('one'), { state: 'sent', sent: true });
});

test('where reminders go is shown as it was set, and replaced as a whole', async (t) => {
  const { server, phone, configure } = await delivering(t);
  const configuration = async () =>
    (await server.answered(phone.call('GET', `${path}/delivery-config`))).body;
  t.deepEqual(await configuration(), { config: null });
  t.deepEqual((await configure(toTelegram)).body, { config: toTelegram });
  t.deepEqual(await configuration(), { config: toTelegram });
  t.is((await configure({ channel: 'email' })).status, 200);
  t.deepEqual(await configuration(), { config: { channel: 'email', destination: null, enabled: false } });
  t.like(await configure({ ...toTelegram, destination: '' }), { status: 400 });
  t.deepEqual(await configuration(), { config: { channel: 'email', destination: null, enabled: false } });
});

test('a reminder says itself where it goes, or as much of that as it likes', async (t) => {
  const { server, chats, postbox, publish, configure } = await delivering(t);
  await configure(toTelegram);
  await publish({ id: 'usual' });
  await publish({ id: 'own', channel: 'whatsapp', destination: '+4915112345678' });
  await publish({ id: 'elsewhere', destination: '@somebody' });
  await publish({ id: 'mailed', channel: 'email', destination: 'carol@example.org' });
  const nowhere = await publish({ id: 'nowhere', channel: 'whatsapp' });
  t.is(nowhere.status, 201);
  await server.advance(2 * minuteMs);
  t.deepEqual(
    new Set(chats.messages.map(({ channel, destination }) => `${channel} ${destination}`)),
    new Set(['telegram 4711', 'whatsapp +4915112345678', 'telegram @somebody']),
  );
  t.deepEqual(
    postbox.messages.map(({ recipient }) => recipient),
    ['carol@example.org'],
  );
});

test('a thousand can be published, and no more', async (t) => {
  const { publish } = await delivering(t);
  for (let first = 0; first < 1_000; first += 50) {
    const some = Array.from({ length: 50 }, (_, each) => `${first + each}`);
    const answers = await Promise.all(some.map((id) => publish({ id, dueAtUtc: '2030-01-01T00:00:00Z' })));
    t.true(answers.every(({ status }) => status === 201));
  }
  t.like(await publish({ id: 'more' }), { status: 409, body: { error: { tag: 'reminder-limit' } } });
  t.is((await publish({ id: '7', message: 'Another' })).status, 200);
});

test('the audit trail tells of changes of where they go, and never where', async (t) => {
  const { server, phone, configure, optOut } = await delivering(t);
  await configure(toTelegram);
  await optOut();
  const { text } = await server.answered(
    phone.call('GET', `/v1/users/${phone.account.userUuid}/audit-trail`),
  );
  t.true(text.includes('reminder-delivery-changed') && text.includes('reminder-delivery-ended'));
  t.false(text.includes('4711'));
});
