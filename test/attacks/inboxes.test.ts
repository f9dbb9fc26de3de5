/** Attacks on inboxes: anyone may write to anyone. */
import test from 'ava';
import { bob } from '../kit/account.ts';
import { accepted, type Device } from '../kit/device.ts';
import { fakeVault, tellUser } from '../kit/fake-vault.ts';
import { uuidNumber } from '../kit/items.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const messages = '/v1/messages';
const kibibyte = 1_024;

const post = (device: Device, recipient_uuid: string, encrypted_message = '004:text') =>
  device.call('POST', messages, { body: { recipient_uuid, encrypted_message } });
const inbound = async (device: Device) => accepted(await device.call('GET', messages)).messages;
const outbound = async (device: Device) =>
  accepted(await device.call('GET', `${messages}/outbound`)).messages;

/** Sends until refused. */
async function flood(
  server: TestServer,
  from: Device,
  recipientUuid: string,
  text?: string,
): Promise<number> {
  for (let sent = 0; ; sent += 1) {
    const { status, body } = await post(from, recipientUuid, text);
    if (status !== 200) {
      if (status !== 400 || typeof body.error?.message !== 'string') throw new Error(`${status}`);
      await server.advance(5_000);
      return sent;
    }
    await server.advance(50);
  }
}

test('whether an account is there does not show in what its uuid is answered with, nor in when it is full', async (t) => {
  const server = await startServer(t);
  const [alice, guest] = [await server.device(), await server.device(bob.email)];
  const counts: number[] = [];
  const answers: unknown[] = [];
  for (const uuid of [guest.account.userUuid, uuidNumber(0xdead)]) {
    counts.push(await flood(server, alice, uuid, 'x'.repeat(60 * kibibyte)));
    const { status, body } = await post(alice, uuid, 'x'.repeat(60 * kibibyte));
    answers.push([status, body]);
  }
  t.deepEqual(answers[0], answers[1]);
  t.is(counts[0], counts[1]);
  const listed = (await outbound(alice)).map((each: { recipient_uuid: string }) => each.recipient_uuid);
  t.is(listed.filter((uuid: string) => uuid === uuidNumber(0xdead)).length, counts[1]);
});

test('the messages of one user are bounded, for each recipient and in all', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  t.is(await flood(server, alice, uuidNumber(1)), 128);
  const large = 'x'.repeat(64 * kibibyte);
  t.is(await flood(server, alice, uuidNumber(2), large), 8);
  for (let n = 3; n <= 8; n += 1) t.is(await flood(server, alice, uuidNumber(n), large), 8);
  t.is(await flood(server, alice, uuidNumber(9), large), 0);
  t.is((await outbound(alice)).length, 128 + 7 * 8);
});

test('strangers who fill an inbox push out their own messages, and nobody else’s', async (t) => {
  const server = await startServer(t);
  const [alice, guest] = [await server.device(), await server.device(bob.email)];
  const { uuid } = accepted(await post(alice, guest.account.userUuid, 'of a friend')).message;
  const strangers: Device[] = [];
  for (let n = 0; n < 9; n += 1) {
    const stranger = await server.device(`stranger-${n}@example.org`);
    strangers.push(stranger);
    for (let sent = 0; sent < 9; sent += 1) {
      await post(stranger, guest.account.userUuid, 'x'.repeat(64 * kibibyte));
      await server.advance(50);
    }
    await server.advance(2_000);
  }
  const got: { uuid: string; encrypted_message: string }[] = await inbound(guest);
  t.true(got.some((each) => each.uuid === uuid));
  const bytes = got.reduce((sum, each) => sum + each.encrypted_message.length, 0);
  t.true(bytes <= 4 * kibibyte * kibibyte, `${bytes}`);
  // The sender whose message was dropped learns of it.
  let stored = 0;
  for (const stranger of strangers) stored += (await outbound(stranger)).length;
  t.is(stored, got.length - 1);
});

test('invites of a stranger with many vaults push out none of a friend', async (t) => {
  const server = await startServer(t, { moreKinds: [fakeVault] });
  const guest = await server.device();
  const { userUuid } = guest.account;
  const invite = (n: number, sender: number) => ({
    uuid: uuidNumber(0x1000 + n),
    shared_vault_uuid: uuidNumber(0x2000 + n),
    user_uuid: userUuid,
    sender_uuid: uuidNumber(sender),
    encrypted_message: 'x'.repeat(64 * kibibyte),
    permission: 'read' as const,
    created_at_timestamp: n,
    updated_at_timestamp: n,
  });
  await tellUser(server, userUuid, 'invited', { invite: invite(1, 1), isNew: true });
  for (let n = 2; n < 50; n += 1) {
    await tellUser(server, userUuid, 'invited', { invite: invite(n, 2), isNew: true });
  }
  const { shared_vault_invites: got } = await guest.sync();
  t.is(got.length, 32);
  t.is(got[0]?.uuid, invite(1, 1).uuid);
  t.is(got.at(-1)?.uuid, invite(49, 2).uuid);
});

test('read messages are forgotten, so that a friend may go on writing', async (t) => {
  const server = await startServer(t);
  const [alice, guest] = [await server.device(), await server.device(bob.email)];
  t.is(await flood(server, alice, guest.account.userUuid), 128);
  await guest.call('DELETE', `${messages}/inbound`);
  await server.advance(1_000);
  t.deepEqual(await outbound(alice), []);
  t.is((await post(alice, guest.account.userUuid)).status, 200);
});
