import test from 'ava';
import { bob } from '../../kit/account.ts';
import { accepted, type Device, deleteAccount } from '../../kit/device.ts';
import type { Answer } from '../../kit/http.ts';
import { startServer } from '../../kit/server.ts';

const messages = '/v1/messages';
const eve = 'eve@example.org';

interface Fields {
  readonly encrypted_message?: unknown;
  readonly recipient_uuid?: unknown;
  readonly replaceability_identifier?: unknown;
}

const post = (device: Device, fields: Fields): Promise<Answer> =>
  device.call('POST', messages, { body: { encrypted_message: '004:text', api: '20240226', ...fields } });
const send = async (from: Device, to: Device, fields: Fields = {}) =>
  accepted(await post(from, { recipient_uuid: to.account.userUuid, ...fields })).message;
const inbound = async (device: Device) => accepted(await device.call('GET', messages)).messages;
const outbound = async (device: Device) =>
  accepted(await device.call('GET', `${messages}/outbound`)).messages;
const remove = (device: Device, uuid: string) => device.call('DELETE', `${messages}/${uuid}`);
const texts = (list: readonly { encrypted_message: string }[]) =>
  list.map(({ encrypted_message }) => encrypted_message);

test('a message is sent, listed on both sides, given by a sync, and gone on both once it is deleted', async (t) => {
  const server = await startServer(t);
  const [alice, guest] = [await server.device(), await server.device(bob.email)];
  await guest.sync();
  const message = await send(alice, guest, { replaceability_identifier: 'contact-share:x' });
  const nowMicros = server.clock.nowMs() * 1_000;
  t.like(message, {
    recipient_uuid: guest.account.userUuid,
    sender_uuid: alice.account.userUuid,
    encrypted_message: '004:text',
    replaceability_identifier: 'contact-share:x',
    created_at_timestamp: nowMicros,
    updated_at_timestamp: nowMicros,
  });
  await server.advance(1_000);
  t.deepEqual(await inbound(guest), [message]);
  t.deepEqual(await outbound(alice), [message]);
  t.deepEqual([await inbound(alice), await outbound(guest)], [[], []]);
  t.deepEqual((await guest.sync()).messages, [message]);
  t.deepEqual((await guest.sync()).messages, []);
  t.deepEqual((await (await server.device(bob.email)).sync()).messages, [message]);
  await server.restart();
  t.deepEqual((await remove(guest, message.uuid.toUpperCase())).body, { success: true });
  await server.advance(1_000);
  t.deepEqual([await inbound(guest), await outbound(alice)], [[], []]);
  t.is((await remove(guest, message.uuid)).status, 400);
});

test('a message that its sender deletes is gone for the recipient, and nobody else can delete it', async (t) => {
  const server = await startServer(t);
  const [alice, guest, stranger] = [
    await server.device(),
    await server.device(bob.email),
    await server.device(eve),
  ];
  const { uuid } = await send(alice, guest);
  await server.advance(1_000);
  const foreign = await remove(stranger, uuid);
  const unknown = await remove(stranger, crypto.randomUUID());
  const malformed = await remove(stranger, 'x');
  t.is(foreign.status, 400);
  t.deepEqual(foreign.body, unknown.body);
  t.deepEqual(malformed.body, unknown.body);
  t.is((await inbound(guest)).length, 1);
  t.is((await remove(alice, uuid)).status, 200);
  await server.advance(1_000);
  t.deepEqual([await inbound(guest), await outbound(alice)], [[], []]);
});

test('all inbound messages go at once, for their senders too, and none of those that were sent', async (t) => {
  const server = await startServer(t);
  const [alice, guest, stranger] = [
    await server.device(),
    await server.device(bob.email),
    await server.device(eve),
  ];
  await send(alice, guest);
  await send(stranger, guest);
  await send(guest, alice, { encrypted_message: 'stays' });
  await server.advance(1_000);
  t.is((await inbound(guest)).length, 2);
  t.deepEqual((await guest.call('DELETE', `${messages}/inbound/`)).body, { success: true });
  await server.advance(1_000);
  t.deepEqual([await inbound(guest), await outbound(alice), await outbound(stranger)], [[], [], []]);
  t.deepEqual(texts(await inbound(alice)), ['stays']);
});

test('a message replaces the one with the same identifier, recipient and sender, and no other', async (t) => {
  const server = await startServer(t);
  const [alice, guest, stranger] = [
    await server.device(),
    await server.device(bob.email),
    await server.device(eve),
  ];
  const same = { replaceability_identifier: 'root-key-changed:v:k' };
  await send(alice, guest, { encrypted_message: 'old', ...same });
  await send(alice, guest, { encrypted_message: 'other identifier', replaceability_identifier: 'y' });
  await send(alice, guest, { encrypted_message: 'no identifier' });
  await send(alice, guest, { encrypted_message: 'no identifier either', replaceability_identifier: null });
  await send(alice, stranger, { encrypted_message: 'to another', ...same });
  await send(stranger, guest, { encrypted_message: 'by another', ...same });
  await server.advance(1_000);
  await guest.sync();
  await send(alice, guest, { encrypted_message: 'new', ...same });
  await server.advance(1_000);
  t.deepEqual(texts(await inbound(guest)).toSorted(), [
    'by another',
    'new',
    'no identifier',
    'no identifier either',
    'other identifier',
  ]);
  t.deepEqual(texts(await outbound(alice)), [
    'other identifier',
    'no identifier',
    'no identifier either',
    'to another',
    'new',
  ]);
  t.deepEqual(texts((await guest.sync()).messages), ['new']);
});

test('a message that cannot be sent is refused with a reason', async (t) => {
  const server = await startServer(t);
  const [alice, guest] = [await server.device(), await server.device(bob.email)];
  const recipient_uuid = guest.account.userUuid;
  const wrong: readonly Fields[] = [
    {},
    { recipient_uuid: 'x' },
    { recipient_uuid, encrypted_message: '' },
    { recipient_uuid, encrypted_message: null },
    { recipient_uuid, encrypted_message: { text: 'x' } },
    { recipient_uuid, encrypted_message: 'x'.repeat(65_537) },
    { recipient_uuid, encrypted_message: '\u0000' },
    { recipient_uuid, replaceability_identifier: 'x'.repeat(256) },
    { recipient_uuid, replaceability_identifier: 7 },
  ];
  for (const fields of wrong) {
    const { status, body } = await post(alice, fields);
    t.is(status, 400, JSON.stringify(fields).slice(0, 80));
    t.truthy(body.error?.message ?? body.data?.error?.message);
  }
  t.deepEqual(await outbound(alice), []);
  const longest = await post(alice, {
    recipient_uuid,
    encrypted_message: 'x'.repeat(65_536),
    replaceability_identifier: 'i'.repeat(255),
  });
  t.is(longest.status, 200);
});

test('a session that may only read sees messages, and neither sends nor deletes any', async (t) => {
  const server = await startServer(t);
  const [alice, guest] = [await server.device(), await server.device(bob.email)];
  const { uuid } = await send(alice, guest);
  await server.advance(1_000);
  await server.restart({ accounts: { readonlyUsers: new Set([bob.email]) } });
  t.is((await inbound(guest)).length, 1);
  const refused = [
    await post(guest, { recipient_uuid: alice.account.userUuid }),
    await remove(guest, uuid),
    await guest.call('DELETE', `${messages}/inbound`),
  ];
  for (const { status, body } of refused) {
    t.is(status, 403);
    t.is(body.error.tag, 'read-only-access');
  }
  t.is((await inbound(guest)).length, 1);
});

test('a message to oneself is sent and deleted like any other', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const { uuid } = await send(alice, alice);
  await server.advance(1_000);
  t.deepEqual([(await inbound(alice)).length, (await outbound(alice)).length], [1, 1]);
  t.is((await remove(alice, uuid)).status, 200);
  await server.advance(1_000);
  t.deepEqual([await inbound(alice), await outbound(alice)], [[], []]);
});

test('a deleted account leaves no message behind, neither those it got nor those it sent', async (t) => {
  const server = await startServer(t);
  const [alice, guest] = [await server.device(), await server.device(bob.email)];
  const many = 120;
  for (let at = 0; at < many; at += 1) {
    await send(alice, guest, { encrypted_message: `to ${at}` });
    await send(guest, alice, { encrypted_message: `from ${at}` });
    await server.advance(100);
  }
  await server.advance(5_000);
  t.deepEqual([(await inbound(alice)).length, (await outbound(alice)).length], [many, many]);
  t.is((await deleteAccount(guest)).status, 200);
  await server.advance(20_000);
  t.deepEqual([await inbound(alice), await outbound(alice)], [[], []]);
  t.is(server.host.database.sizes.get('inbox_message'), 0);
  t.is(server.host.database.sizes.get('sent_message'), 0);
});
