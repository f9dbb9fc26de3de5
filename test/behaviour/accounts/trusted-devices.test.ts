import test from 'ava';
import { startServer } from '../../kit/server.ts';

const list = '/v1/trusted-devices';
const dayMs = 86_400_000;

test('a device is trusted for a month by a token that is shown once', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { trustedDevice } = (await phone.call('POST', list, { body: { label: 'my laptop' } })).body;
  const { token, ...device } = trustedDevice;
  t.regex(token, /^[\w-]{43}$/);
  t.is(device.label, 'my laptop');
  t.is(device.expiresAt, device.createdAt + 30 * dayMs);
  const answer = await phone.call('GET', list);
  t.deepEqual(answer.body, { trustedDevices: [{ ...device, lastUsedAt: null }] });
  t.false(answer.text.includes(token));
  await server.advance(30 * dayMs);
  t.deepEqual((await phone.call('GET', list)).body, { trustedDevices: [] });
});

test('without a label a device is named after its session', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const body of [{}, { label: null }, { label: ' ' }]) {
    const { trustedDevice } = (await phone.call('POST', list, { body })).body;
    t.is(trustedDevice.label, 'Unknown Client on Unknown OS');
  }
  const { trustedDevice } = (await phone.call('POST', list, { body: { label: 'x'.repeat(300) } })).body;
  t.is(trustedDevice.label.length, 255);
});

test('beyond fifty the device that would end first goes', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const uuids: string[] = [];
  for (let trusted = 0; trusted < 51; trusted += 1) {
    uuids.push((await phone.call('POST', list, { body: {} })).body.trustedDevice.uuid);
    await server.advance(1_000);
  }
  const left = (await phone.call('GET', list)).body.trustedDevices.map(({ uuid }: { uuid: string }) => uuid);
  t.deepEqual(left, uuids.slice(1).reverse());
});

test('a change of the password ends the trust in every device', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await phone.call('POST', list, { body: {} });
  const { userUuid, password } = phone.account;
  const body = { api: '20200115', current_password: password, new_password: 'c'.repeat(64), pw_nonce: 'd' };
  const changed = await phone.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, { body });
  const bearer = changed.body.session.access_token;
  t.deepEqual((await phone.call('GET', list, { bearer })).body, { trustedDevices: [] });
});

test('a device that is not the caller’s is not there', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const stranger = await server.device('bob@example.org');
  const { uuid } = (await phone.call('POST', list, { body: {} })).body.trustedDevice;
  t.is((await stranger.call('DELETE', `${list}/${uuid}`)).status, 404);
  t.is((await phone.call('DELETE', `${list}/${uuid}`)).status, 200);
  t.is((await phone.call('DELETE', `${list}/${uuid}`)).status, 404);
});
