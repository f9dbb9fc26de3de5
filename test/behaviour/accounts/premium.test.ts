import test from 'ava';
import type { Device } from '../../kit/device.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const conformance = { accounts: { endToEndTesting: true } };
const activate = (server: TestServer, body: object) => server.call('POST', '/e2e/activate-premium', { body });
const subscriptionOf = async (device: Device) =>
  (await device.call('GET', `/v1/users/${device.account.userUuid}/subscription`)).body.subscription;

test('a conformance run gives an account a subscription, and another after it', async (t) => {
  const server = await startServer(t, conformance);
  const phone = await server.device();
  const tablet = await server.device('bob@example.org');
  const endsAt = server.clock.nowMs() + 60_000;
  const input = { subscriptionId: 42, subscriptionPlanName: 'PLUS_PLAN', uploadBytesLimit: 1_000, endsAt };
  const answer = await activate(server, { username: ' Alice@example.org', ...input });
  t.is(answer.status, 200);
  t.is(typeof answer.body.message, 'string');
  t.like(await subscriptionOf(phone), { subscriptionId: 42, planName: 'PLUS_PLAN', endsAt: endsAt * 1_000 });
  const { body } = await phone.call(
    'GET',
    `/v1/users/${phone.account.userUuid}/subscription-settings/file_upload_bytes_limit`,
  );
  t.is(body.setting.value, '1000');
  await activate(server, { username: 'bob@example.org', ...input });
  t.is((await subscriptionOf(tablet)).subscriptionId, 42);
  await server.restart();
  await activate(server, { username: phone.account.email, subscriptionId: 43, endsAt: endsAt * 1_000 });
  t.like(await subscriptionOf(phone), { subscriptionId: 43, planName: 'PRO_PLAN', endsAt: endsAt * 1_000 });
});

test('with the subscription before, what it shared is cancelled', async (t) => {
  const server = await startServer(t, conformance);
  const phone = await server.device();
  const body = { identifier: 'bob@example.org' };
  await phone.call('POST', '/v1/subscription-invites', { body });
  const statuses = async () =>
    (await phone.call('GET', '/v1/subscription-invites')).body.invitations.map(
      ({ status }: { status: string }) => status,
    );
  await activate(server, { username: phone.account.email, subscriptionId: 1 });
  t.deepEqual(await statuses(), ['sent']);
  await activate(server, {
    username: phone.account.email,
    subscriptionId: 2,
    cancelPreviousSubscription: true,
  });
  t.deepEqual(await statuses(), ['canceled']);
});

test('a request with a wrong value or for an absent user is refused', async (t) => {
  const server = await startServer(t, conformance);
  await server.device();
  for (const body of [
    {},
    { username: 'nobody@example.org' },
    { username: 'alice@example.org', endsAt: 'soon' },
    { username: 'alice@example.org', subscriptionId: 'x' },
    { username: 'alice@example.org', uploadBytesLimit: -2 },
  ]) {
    t.is((await activate(server, body)).status, 400, JSON.stringify(body));
  }
});

test('no other server has the endpoint', async (t) => {
  const server = await startServer(t);
  await server.device();
  t.is((await activate(server, { username: 'alice@example.org' })).status, 404);
});
