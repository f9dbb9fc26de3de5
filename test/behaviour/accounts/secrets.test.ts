/** The stored data about credentials: nothing in it opens an account. */
import test from 'ava';
import { alice, cookieSessions, newAlice, refresh, signIn, tokensOf } from '../../kit/account.ts';
import { FakeClock } from '../../kit/clock.ts';
import { ModelDatabase } from '../../kit/model-store/model-store.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { bridgeTokens, calendarTokens, startServer } from '../../kit/server.ts';
import { WatchedStore } from '../../kit/watched-store.ts';

test('no secret setting is in the database as it was given', async (t) => {
  const clock = new FakeClock();
  const store = new WatchedStore(new ModelDatabase(clock));
  const server = await startServer(t, { host: { clock, store } });
  const phone = await server.device();
  const path = `/v1/users/${phone.account.userUuid}`;
  const secret = 'nobody reads this';
  const put = (name: string, value: string) =>
    phone.call('PUT', `${path}/settings`, { body: { name, value } });
  t.is((await put('EXTENSION_KEY', secret)).status, 200);
  t.is((await put('NEXTCLOUD_BACKUP_FOLDER', 'anybody may read this')).status, 200);
  const offered = (await phone.call('GET', `${path}/mfa-secret`)).body.secret;
  const headers = { 'x-server-password': phone.account.password };
  const { recoveryCodes } = (await phone.call('POST', '/v1/recovery/codes', { headers })).body;
  await server.advance(1_000);
  t.true(store.written.includes('anybody may read this'));
  for (const hidden of [secret, offered, recoveryCodes]) t.false(store.written.includes(hidden));
});

test('no secret of a session is in the database, in any of its rows', async (t) => {
  const clock = new FakeClock();
  const store = new WatchedStore(new ModelDatabase(clock));
  const server = await startServer(t, { host: { clock, store } });
  const answers = [
    await server.call('POST', '/v1/users', { body: newAlice }),
    await signIn(server, { api: cookieSessions }),
  ];
  for (const answer of [...answers]) answers.push(await refresh(server, tokensOf(answer)));
  await server.advance(1_000);
  const secrets = answers.flatMap(({ body, setCookies }) => [
    ...setCookies.map((cookie) => cookie.split(/[=;]/)[1] ?? ''),
    ...[body.session.access_token, body.session.refresh_token]
      .filter((token: string) => token.startsWith('1:'))
      .map((token: string) => token.split(':')[2] ?? ''),
  ]);
  t.true(secrets.length >= 8);
  t.true(store.written.includes(alice.email));
  for (const secret of secrets) {
    t.is(secret.length, 43);
    t.false(store.written.includes(secret));
  }
});

test('nothing that lets a program or device in is in the database as it was given, and no words for a mail or a calendar', async (t) => {
  const clock = new FakeClock();
  const store = new WatchedStore(new ModelDatabase(clock));
  const accounts = { calendar: true, emailReminders: true, reminderDelivery: true };
  const server = await startServer(t, { ...mailTo(new Postbox()), accounts, host: { clock, store } });
  const phone = await server.device();
  const made = async (path: string, body: object, method = 'POST') => {
    const answer = await phone.call(method, path, { body });
    t.true([200, 201].includes(answer.status), answer.text);
    return answer.body;
  };
  for (const name of ['CALDAV_ENABLED', 'EMAIL_REMINDERS_ENABLED', 'REMINDER_DELIVERY_ENABLED']) {
    await made(`/v1/users/${phone.account.userUuid}/settings`, { name, value: 'true' }, 'PUT');
  }
  const keys = { wrappedKeys: 'wrapped', kdfSalt: 'salt', kdfParams: 'params' };
  const bridge = await made('/v1/mcp-tokens', { label: 'bridge', scope: 'read', ...keys });
  const calendar = await made('/v1/caldav/tokens', { label: 'calendar' });
  const secrets: readonly string[] = [
    (await made('/v1/app-passwords', { label: 'app' })).password,
    (await made('/v1/trusted-devices', { label: 'device' })).trustedDevice.token,
    bridgeTokens.verify(bridge.token)?.secret ?? '',
    calendarTokens.verify(calendar.token.token)?.secret ?? '',
  ];
  for (const secret of secrets) t.is(secret.length, 43);
  const words = ['words-of-a-switch', 'words-of-a-reminder', 'words-that-are-published', 'words-of-a-to-do'];
  const [ofSwitch, ofReminder, published, ofTodo] = words;
  const dueAt = new Date(clock.nowMs() + 86_400_000).toISOString();
  const shareUrl = `https://notes.test/?shared=1#${ofSwitch}`;
  await made('/v1/dead-man-switches', { recipientEmail: 'bob@example.org', shareUrl, intervalDays: 30 });
  await made('/v1/email-reminders', { dueAt, message: ofReminder });
  await made('/v1/reminder-delivery', { id: 'one', dueAtUtc: dueAt, message: published });
  await made('/v1/caldav/todos', { summary: ofTodo });
  await server.advance(1_000);
  t.true(store.written.includes('wrapped'));
  for (const hidden of [...secrets, ...words]) t.false(store.written.includes(hidden), hidden);
});
