/**
 * Published reminders of others, sessions that may only read, and fields that would turn a message into somebody
 * else's.
 */
import test from 'ava';
import fc from 'fast-check';
import { FakeClock } from '../kit/clock.ts';
import { delivering, minuteMs, path } from '../kit/delivering.ts';
import { Device } from '../kit/device.ts';
import { ModelDatabase, ModelStore } from '../kit/model-store/model-store.ts';

const toTelegram = { channel: 'telegram', destination: '4711', enabled: true };

test('nobody sees, changes or deletes what others have published, though ids are the same', async (t) => {
  const { server, publish, listed, configure, phone } = await delivering(t);
  await configure(toTelegram);
  await publish({ id: 'one' });
  const eve = await server.device('eve@example.org');
  const setting = { name: 'REMINDER_DELIVERY_ENABLED', value: 'true' };
  await eve.call('PUT', `/v1/users/${eve.account.userUuid}/settings`, { body: setting });
  t.like(await server.answered(eve.call('DELETE', `${path}/one`)), {
    status: 404,
    body: { error: { tag: 'reminder-not-found' } },
  });
  t.deepEqual((await eve.call('GET', path)).body, { reminders: [] });
  t.deepEqual((await eve.call('GET', `${path}/delivery-config`)).body, { config: null });
  const body = { id: 'one', dueAtUtc: '2030-01-01T00:00:00Z' };
  t.is((await server.answered(eve.call('POST', path, { body }))).status, 201);
  t.is((await server.answered(eve.call('POST', `${path}/opt-out`))).status, 200);
  t.like(await listed(), [{ id: 'one', message: 'Water the plants' }]);
  t.is((await phone.call('GET', `${path}/delivery-config`)).body.config.destination, '4711');
  t.is((await server.call('GET', path)).status, 401);
});

test('a session that may only read changes nothing, and does not opt out', async (t) => {
  const { server, phone, publish, configure, listed } = await delivering(t);
  await configure(toTelegram);
  await publish({ id: 'one' });
  const keys = { label: 'b', scope: 'read', wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const { token } = (await phone.call('POST', '/v1/mcp-tokens', { body: keys })).body;
  const opened = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
  const reader = new Device(server, { ...phone.account, access: opened.body.session.access_token });
  for (const [method, of, body] of [
    ['POST', path, { id: 'one', dueAtUtc: '2030-01-01T00:00:00Z' }],
    ['PUT', `${path}/delivery-config`, toTelegram],
    ['DELETE', `${path}/one`, undefined],
    ['POST', `${path}/opt-out`, undefined],
  ] as const) {
    const answer = await server.answered(reader.call(method, of, { body }));
    t.like(answer, { status: 403, body: { error: { tag: 'read-only-access' } } }, `${method} ${of}`);
  }
  t.is((await listed()).length, 1);
});

test('no destination is two, a header, a path or a command', async (t) => {
  const { configure, publish, listed, phone } = await delivering(t);
  const bad: readonly (readonly [string, unknown])[] = [
    ...[
      'a@x.org, b@x.org',
      'a@x.org\r\nBcc: b@x.org',
      '<a@x.org>',
      'a@x.org,',
      'x',
      `${'a'.repeat(250)}@x.org`,
      '',
    ].map((each) => ['email', each] as const),
    ...['1,2', '@a', '@a/../sendDocument', '12\n3', '1e5', '@has space', '9'.repeat(21), '--1', ''].map(
      (each) => ['telegram', each] as const,
    ),
    ...[
      '+0123456789',
      '123',
      '+49 151 1234567',
      '1234567,1234567',
      'whatsapp:+49151',
      '9'.repeat(16),
      '１２３４５６７８',
    ].map((each) => ['whatsapp', each] as const),
    ...[['4711'], { $gt: '' }, 4711, true, null].map((each) => ['telegram', each] as const),
  ];
  for (const [channel, destination] of bad) {
    const step = `${channel} ${JSON.stringify(destination)}`;
    t.like(
      await configure({ channel, destination, enabled: true }),
      { status: 400, body: { error: { tag: 'invalid-destination' } } },
      step,
    );
    if (destination === null) continue;
    const own = await publish({ id: 'one', channel, destination });
    t.like(own, { status: 400, body: { error: { tag: 'invalid-reminder' } } }, step);
  }
  for (const channel of ['sms', '', null, 1, ['email'], '__proto__']) {
    t.like(await configure({ channel, destination: '4711', enabled: true }), {
      status: 400,
      body: { error: { tag: 'invalid-channel' } },
    });
  }
  t.is((await configure({ ...toTelegram, enabled: 'yes' })).status, 400);
  t.deepEqual(await listed(), []);
  t.deepEqual((await phone.call('GET', `${path}/delivery-config`)).body, { config: null });
});

test('no time, id or text that is wrong is published', async (t) => {
  const { publish, listed } = await delivering(t);
  const due = '2030-01-01T00:00:00Z';
  const bad = [
    ...[
      '2030-01-01',
      '2030-01-01T00:00:00',
      'soon',
      '',
      1,
      1e300,
      -1,
      null,
      undefined,
      ['x'],
      '2030-13-01T00:00Z',
    ].map((dueAtUtc) => ({ id: 'one', dueAtUtc })),
    ...[
      '+275760-09-13T00:00:00Z',
      '0000-01-01T00:00:00+23:59',
      '9999-12-31T23:59:59-23:59',
      '2030-01-01T00:00:00+99:99',
    ].map((dueAtUtc) => ({ id: 'one', dueAtUtc })),
    ...['', ' ', 'a/b', 'a b', 'ä', 'x'.repeat(129), 1, null, {}, 'a\n', '\u0000'].map((id) => ({
      id,
      dueAtUtc: due,
    })),
    ...['x'.repeat(2_001), 'a\rb', 'a\u0000b', '\ud800', 7, ['x'], '\u001b[2J', '\u009b'].map((message) => ({
      id: 'one',
      dueAtUtc: due,
      message,
    })),
  ].filter(({ id }) => id !== 'a\n');
  for (const body of bad) {
    const answer = await publish(body);
    t.like(answer, { status: 400, body: { error: { tag: 'invalid-reminder' } } }, JSON.stringify(body));
  }
  t.deepEqual(await listed(), []);
});

test('a published reminder leaves unchanged, in one message to one destination, and only as requested', async (t) => {
  t.timeout(120_000);
  const { server, chats, configure, publish, remove } = await delivering(t, {
    accounts: { reminderMessagesPerDay: 0 },
  });
  await configure(toTelegram);
  const texts = fc.string({ unit: 'binary', maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: -1e10, max: 50_000 }), async (message, inMs) => {
      const dueAtUtc = new Date(server.clock.nowMs() + inMs).toISOString();
      chats.messages.length = 0;
      const answer = await publish({ id: 'one', message, dueAtUtc });
      if (answer.status === 400) {
        return /[\p{Cc}\ud800-\udfff]/u.test(message);
      }
      await server.advance(minuteMs);
      await server.advance(2 * minuteMs);
      await remove('one');
      const text = `Reminder (due ${dueAtUtc})${message === '' ? '' : `: ${message}`}`;
      t.deepEqual(chats.messages, [{ channel: 'telegram', destination: '4711', text }]);
      return true;
    }),
    { numRuns: 15, seed: 7 },
  );
});

test('message and destination are in nothing that is stored, calls and mails among it', async (t) => {
  const clock = new FakeClock();
  const store = new WatchedStore(new ModelDatabase(clock));
  const { server, configure, publish, remove } = await delivering(t, { host: { clock, store } });
  await configure({ ...toTelegram, destination: '98765432109876' });
  await publish({ id: 'chat', message: 'Only for me' });
  await publish({
    id: 'mail',
    message: 'Only for me',
    channel: 'email',
    destination: 'only-bob@example.org',
  });
  await server.advance(minuteMs);
  await server.advance(2 * minuteMs);
  await remove('chat');
  t.true(store.written.includes('published-reminder'));
  for (const hidden of ['Only for me', '98765432109876', 'only-bob'])
    t.false(store.written.includes(hidden), hidden);
});

/** Keeps the text of everything written, including text in bytes. */
class WatchedStore extends ModelStore {
  written = '';

  override commit(...args: Parameters<ModelStore['commit']>): ReturnType<ModelStore['commit']> {
    this.written += JSON.stringify(args, (_name, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    );
    return super.commit(...args);
  }
}
