import test from 'ava';
import { type Device, deleteAccount } from '../../kit/device.ts';
import type { Answer } from '../../kit/http.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { startServer } from '../../kit/server.ts';

const invites = '/v1/subscription-invites';
const bob = 'bob@example.org';
const dayMs = 86_400_000;

const invite = (device: Device, identifier: unknown) =>
  device.call('POST', invites, { body: { identifier, api: '20240226' } });
const invited = async (device: Device, identifier: string): Promise<string> => {
  const { body, text } = await invite(device, identifier);
  if (body.success !== true) throw new Error(text);
  return body.sharedSubscriptionInvitationUuid;
};
const accept = (device: Device, uuid: string) => device.call('POST', `${invites}/${uuid}/accept`);
const decline = (device: Device, uuid: string) => device.call('POST', `${invites}/${uuid}/decline`);
const end = (device: Device, uuid: string) => device.call('DELETE', `${invites}/${uuid}`);
const list = async (device: Device) => (await device.call('GET', invites)).body.invitations;
const statuses = async (device: Device) =>
  (await list(device)).map(({ status }: { status: string }) => status);
const subscription = async (device: Device) =>
  (await device.call('GET', `/v1/users/${device.account.userUuid}/subscription`)).body.subscription;
const refusal = ({ status, body }: Answer) => ({ status, success: body.success });
const refused = { status: 400, success: false };

test('an invite is sent, listed, accepted, and shares the subscription until it is cancelled', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const guest = await server.device(bob);
  const uuid = await invited(phone, ' Bob@Example.org ');
  const { subscriptionId } = await subscription(phone);
  const [sent] = await list(phone);
  t.deepEqual(sent, {
    uuid,
    inviterIdentifier: phone.account.email,
    inviterIdentifierType: 'email',
    inviteeIdentifier: bob,
    inviteeIdentifierType: 'email',
    status: 'sent',
    subscriptionId,
    createdAt: server.clock.nowMs() * 1_000,
    updatedAt: server.clock.nowMs() * 1_000,
  });
  t.deepEqual(await list(guest), []);
  t.deepEqual((await accept(guest, uuid)).body, { success: true });
  t.deepEqual((await accept(guest, uuid.toUpperCase())).body, { success: true });
  t.deepEqual(await statuses(phone), ['accepted']);
  t.like(await subscription(guest), { subscriptionType: 'shared', subscriptionId, planName: 'PRO_PLAN' });
  await server.restart();
  t.deepEqual((await end(phone, uuid)).body, { success: true });
  t.deepEqual((await end(phone, uuid)).body, { success: true });
  await server.advance(5_000);
  t.deepEqual(await statuses(phone), ['canceled']);
  t.is((await subscription(guest)).subscriptionType, 'regular');
  t.deepEqual(refusal(await accept(guest, uuid)), refused);
});

test('an invitee declines an invite, before and after it was accepted, and nobody else declines it', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const guest = await server.device(bob);
  const uuid = await invited(phone, bob);
  const stranger = await server.device('eve@example.org');
  for (const answer of [await decline(phone, uuid), await decline(stranger, uuid), await decline(guest, 'x')])
    t.deepEqual(refusal(answer), refused);
  t.deepEqual(await statuses(phone), ['sent']);
  t.deepEqual((await decline(guest, uuid)).body, { success: true });
  t.deepEqual((await decline(guest, uuid.toUpperCase())).body, { success: true });
  t.deepEqual(await statuses(phone), ['declined']);

  const another = await invited(phone, bob);
  await accept(guest, another);
  t.is((await subscription(guest)).subscriptionType, 'shared');
  t.deepEqual((await decline(guest, another)).body, { success: true });
  t.is((await subscription(guest)).subscriptionType, 'regular');
});

test('only the owner of the invited address accepts or declines, and nobody learns whose an invite is', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const guest = await server.device(bob);
  const stranger = await server.device('eve@example.org');
  const uuid = await invited(phone, bob);
  const unknown = await accept(stranger, crypto.randomUUID());
  t.deepEqual(refusal(unknown), refused);
  t.truthy(unknown.body.error.message);
  for (const answer of [
    await accept(stranger, uuid),
    await end(stranger, uuid),
    await accept(phone, uuid),
    await accept(stranger, 'x'),
    await end(stranger, crypto.randomUUID()),
  ]) {
    t.deepEqual([answer.status, answer.body], [unknown.status, unknown.body]);
  }
  t.deepEqual(await statuses(phone), ['sent']);
  t.is((await end(guest, uuid)).status, 200);
  t.is((await end(guest, uuid)).status, 200);
  t.deepEqual(await statuses(phone), ['declined']);
  t.deepEqual(refusal(await accept(guest, uuid)), refused);
  t.is((await subscription(stranger)).subscriptionType, 'regular');
});

test('a guest who has accepted an invite can leave, and be invited again', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const guest = await server.device(bob);
  const uuid = await invited(phone, bob);
  await accept(guest, uuid);
  t.deepEqual(refusal(await invite(phone, bob)), refused);
  t.is((await end(guest, uuid)).status, 200);
  t.is((await subscription(guest)).subscriptionType, 'regular');
  t.is((await accept(guest, await invited(phone, bob))).status, 200);
  t.deepEqual((await statuses(phone)).toSorted(), ['accepted', 'declined']);
});

test('five are open at a time, cancelled ones stay listed, and a day has a limit', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const open = [];
  for (let count = 0; count < 5; count += 1) open.push(await invited(phone, `guest${count}@example.org`));
  t.deepEqual(refusal(await invite(phone, 'guest5@example.org')), refused);
  t.is((await end(phone, String(open[0]))).status, 200);
  t.deepEqual(refusal(await invite(phone, 'guest1@example.org')), refused);
  await invited(phone, 'guest0@example.org');
  t.is((await list(phone)).length, 6);
  for (let count = 6; count < 20; count += 1) {
    const [latest] = (await list(phone)).filter(({ status }: { status: string }) => status === 'sent');
    await end(phone, latest.uuid);
    await invited(phone, `later${count}@example.org`);
    await server.advance(1_000);
  }
  for (const { uuid } of await list(phone)) await end(phone, uuid);
  t.deepEqual(refusal(await invite(phone, 'more@example.org')), refused);
  await server.advance(dayMs);
  await invited(phone, 'more@example.org');
});

test('an invite that nobody answers ends by itself', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const uuid = await invited(phone, bob);
  await server.advance(30 * dayMs);
  const again = await phone.another();
  t.deepEqual(await statuses(again), ['canceled']);
  t.deepEqual(refusal(await accept(await server.device(bob), uuid)), refused);
  t.is((await invite(again, bob)).status, 200);
});

test('an address is needed, and not one’s own', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const identifier of [
    undefined,
    '',
    'bob',
    'a@b@c',
    'a b@example.org',
    'a@x,b@y',
    phone.account.email,
    7,
  ]) {
    t.is((await invite(phone, identifier)).status, 400, String(identifier));
  }
  t.deepEqual(await list(phone), []);
});

test('the deletion of an account ends what it shared', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const guest = await server.device(bob);
  const accepted = await invited(phone, bob);
  const open = await invited(phone, 'carol@example.org');
  await accept(guest, accepted);
  t.is((await deleteAccount(phone)).status, 200);
  await server.advance(10_000);
  t.is((await subscription(guest)).subscriptionType, 'regular');
  const carol = await server.device('carol@example.org');
  t.deepEqual(refusal(await accept(carol, open)), refused);
});

test('the deletion of a guest makes room for another', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const guest = await server.device(bob);
  await accept(guest, await invited(phone, bob));
  t.is((await deleteAccount(guest)).status, 200);
  await server.advance(10_000);
  t.deepEqual(await statuses(phone), ['declined']);
});

test('an invite is mailed, with what accepts it', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  const phone = await server.device();
  const uuid = await invited(phone, bob);
  await server.until(() => postbox.messages.length > 0, 10_000);
  const [message] = postbox.messages;
  t.is(message?.recipient, bob);
  t.true(message?.text.includes(uuid));
  t.true(message?.text.includes(phone.account.email));
  t.is((await accept(await server.device(bob), uuid)).status, 200);
});

test('an invite that is cancelled before its mail has left is not mailed', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  const phone = await server.device();
  const failed = { result: 'transient', failure: 'connection' } as const;
  postbox.answer = () => failed;
  await end(phone, await invited(phone, bob));
  postbox.answer = () => undefined;
  await server.advance(3_600_000);
  t.deepEqual(postbox.messages, []);
});
