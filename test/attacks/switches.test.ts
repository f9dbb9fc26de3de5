/**
 * Switches of others, sessions that may only read, and fields that would turn a mail of the server into somebody
 * else's.
 */
import test from 'ava';
import { Device } from '../kit/device.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';

const path = '/v1/dead-man-switches';
const body = { recipientEmail: 'bob@example.org', shareUrl: 'https://notes.test/#k', intervalDays: 30 };

test('nobody checks in for others, deletes theirs or sees them', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  const alice = await server.device();
  const eve = await server.device('eve@example.org');
  const { uuid, deadline } = (await alice.call('POST', path, { body })).body.deadManSwitch;
  for (const [method, of] of [
    ['POST', `${path}/${uuid}/check-in`],
    ['DELETE', `${path}/${uuid}`],
  ] as const) {
    const answer = await eve.call(method, of);
    t.like(answer, { status: 404, body: { error: { tag: 'dead-man-switch-not-found' } } });
  }
  t.deepEqual((await eve.call('GET', path)).body.deadManSwitches, []);
  t.is((await server.call('GET', path)).status, 401);
  t.like((await alice.call('GET', path)).body.deadManSwitches[0], { uuid, deadline });
});

test('a session that may only read neither makes, nor checks in, nor deletes', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  const alice = await server.device();
  const { uuid } = (await alice.call('POST', path, { body })).body.deadManSwitch;
  const keys = { label: 'b', scope: 'read', wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const { token } = (await alice.call('POST', '/v1/mcp-tokens', { body: keys })).body;
  const opened = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
  const reader = new Device(server, { ...alice.account, access: opened.body.session.access_token });
  for (const [method, of] of [
    ['POST', path],
    ['POST', `${path}/${uuid}/check-in`],
    ['DELETE', `${path}/${uuid}`],
  ] as const) {
    t.like(await reader.call(method, of, { body }), {
      status: 403,
      body: { error: { tag: 'read-only-access' } },
    });
  }
});

test('no field smuggles a second recipient, a header or another link', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  const alice = await server.device();
  const bad = [
    { recipientEmail: 'bob@example.org, eve@example.org' },
    { recipientEmail: 'bob@example.org\r\nBcc: eve@example.org' },
    { recipientEmail: ['bob@example.org', 'eve@example.org'] },
    { shareUrl: 'https://notes.test/\r\nhttps://evil.test/' },
    { shareUrl: 'javascript:alert(1)' },
    { intervalDays: -1 },
    { intervalDays: 1e308 },
    { intervalDays: undefined, deadline: -1e308 },
  ];
  for (const changes of bad) {
    const answer = await alice.call('POST', path, { body: { ...body, ...changes } });
    t.like(
      answer,
      { status: 400, body: { error: { tag: 'invalid-dead-man-switch' } } },
      JSON.stringify(changes),
    );
  }
  t.deepEqual((await alice.call('GET', path)).body.deadManSwitches, []);
});
