import test from 'ava';
import type { Device } from '../../kit/device.ts';
import { SecurityKey } from '../../kit/security-key.ts';
import { startServer } from '../../kit/server.ts';

const list = '/v1/authenticators';
const offer = async (device: Device) =>
  (await device.call('GET', `${list}/generate-registration-options`)).body.options;
const add = (device: Device, attestationResponse: unknown) =>
  device.call('POST', `${list}/verify-registration`, {
    body: { userUuid: device.account.userUuid, name: 'mine', attestationResponse },
  });

test('a security key is offered, added, listed and removed', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const options = await offer(phone);
  t.like(options, { rp: { id: 'notes.test', name: 'Notes' }, attestation: 'none', excludeCredentials: [] });
  t.is(Buffer.from(options.user.id, 'base64url').toString(), phone.account.userUuid);
  t.is(options.user.name, phone.account.email);
  const key = new SecurityKey();
  const added = await add(phone, key.register(options.challenge));
  t.is(added.status, 200, added.text);
  const { id } = added.body;
  await server.restart();
  t.deepEqual((await phone.call('GET', list)).body, { authenticators: [{ id }] });
  const [excluded] = (await offer(phone)).excludeCredentials;
  t.deepEqual(excluded, { id: key.id, type: 'public-key', transports: ['usb'] });
  t.is((await phone.call('DELETE', `${list}/${id}`)).status, 200);
  t.is((await phone.call('DELETE', `${list}/${id}`)).status, 404);
  t.deepEqual((await phone.call('GET', list)).body, { authenticators: [] });
});

test('a challenge counts once, for five minutes, and only the newest', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const first = (await offer(phone)).challenge;
  const second = (await offer(phone)).challenge;
  t.not(first, second);
  t.is((await add(phone, new SecurityKey().register(first))).status, 400, 'overwritten');
  const late = (await offer(phone)).challenge;
  await server.advance(300_000);
  t.is((await add(phone, new SecurityKey().register(late))).status, 400, 'too late');
  const once = (await offer(phone)).challenge;
  const both = await Promise.all([1, 2].map(() => add(phone, new SecurityKey().register(once))));
  t.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400]);
  t.is((await add(phone, new SecurityKey().register(once))).status, 400, 'used');
  t.is((await phone.call('GET', list)).body.authenticators.length, 1);
});

test('a key of another origin or domain, for another user, or broken, is refused', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const stranger = await server.device('bob@example.org');
  const broken = async (change: (response: Record<string, unknown>) => unknown, key = new SecurityKey()) =>
    (await add(phone, change(key.register((await offer(phone)).challenge)))).status;
  t.is(await broken((good) => good, new SecurityKey({ origin: 'https://evil.test' })), 400);
  t.is(await broken((good) => good, new SecurityKey({ relyingPartyId: 'evil.test' })), 400);
  t.is(await broken(() => ({})), 400);
  t.is(await broken(() => 'x'), 400);
  t.is(await broken((good) => ({ ...good, response: {} })), 400);
  t.is(await broken((good) => ({ ...good, id: 'another' })), 400);
  const { challenge } = await offer(phone);
  const body = {
    userUuid: stranger.account.userUuid,
    attestationResponse: new SecurityKey().register(challenge),
  };
  t.is((await phone.call('POST', `${list}/verify-registration`, { body })).status, 403);
  t.is((await add(stranger, new SecurityKey().register(challenge))).status, 400);
  t.deepEqual((await phone.call('GET', list)).body, { authenticators: [] });
});

test('the same key is not added twice, nor one more than twenty', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const key = new SecurityKey();
  t.is((await add(phone, key.register((await offer(phone)).challenge))).status, 200);
  t.is((await add(phone, key.register((await offer(phone)).challenge))).status, 400);
  for (let added = 1; added < 20; added += 1) {
    t.is((await add(phone, new SecurityKey().register((await offer(phone)).challenge))).status, 200);
  }
  t.is((await phone.call('GET', `${list}/generate-registration-options`)).status, 400);
});
