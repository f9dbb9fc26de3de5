/** Users who want more of shared vaults than they may have: to see, to keep, or to fill. */
import test from 'ava';
import { Vault } from '../../actors/vault/contract.ts';
import { type Device, deleteAccount } from '../kit/device.ts';
import type { Answer } from '../kit/http.ts';
import { deletion, note, uuidNumber } from '../kit/items.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';
import { accept, invite, makeVault, rowsOf, startSharedVault, vaults, wrongWith } from '../kit/vaults.ts';

const uuidOf = ({ account }: Device) => account.userUuid;
const fields = { encrypted_message: 'c2VjcmV0', permission: 'read' };

test('an invitation does not tell its sender whether there is such a user', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(alice);
  const answers = [];
  for (const recipient_uuid of [uuidOf(bob), crypto.randomUUID()]) {
    const { status, body } = await alice.call('POST', `${vaults}/${vault}/invites`, {
      body: { ...fields, recipient_uuid },
    });
    const { uuid, user_uuid, created_at_timestamp: _, updated_at_timestamp: __, ...rest } = body.invite;
    t.is(user_uuid, recipient_uuid);
    t.truthy(uuid);
    answers.push({ status, rest });
  }
  t.deepEqual(answers[0], answers[1]);
  await server.advance(10_000);
  const { invites } = (await alice.call('GET', `${vaults}/${vault}/invites`)).body;
  t.is(invites.length, 2);
  t.deepEqual(
    postbox.messages.map(({ recipient }) => recipient),
    [bob.account.email],
  );
});

test('nobody is flooded with mail by invites, and none quotes its sender', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, { ...mailTo(postbox), vaults: { inviteMailsPerDay: 2 } });
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const first = await makeVault(alice);
  for (let time = 0; time < 3; time += 1) await invite(alice, first, uuidOf(bob));
  await server.advance(10_000);
  t.is(postbox.messages.length, 1);
  for (let time = 0; time < 3; time += 1) await invite(alice, await makeVault(alice), uuidOf(bob));
  await server.advance(10_000);
  t.is(postbox.messages.length, 2);
  const { text } = postbox.messages[0] ?? { text: '' };
  for (const secret of [alice.account.email, uuidOf(alice), first, fields.encrypted_message]) {
    t.false(text.includes(secret));
  }
  await server.advance(86_400_000);
  await invite(alice, await makeVault(alice), uuidOf(bob));
  await server.advance(10_000);
  t.is(postbox.messages.length, 3);
});

test('vaults, members and invites are bounded, and what is given up makes room', async (t) => {
  const bounds = { vaultsMax: 2, membersMax: 2, invitesMax: 2, sentInvitesMax: 3 };
  const server = await startServer(t, { vaults: bounds });
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const carol = await server.device('carol@example.org');
  const one = await makeVault(alice);
  const two = await makeVault(alice);
  t.is((await alice.call('POST', vaults)).status, 400);

  const toBob = await invite(alice, one, uuidOf(bob));
  const toCarol = await invite(alice, one, uuidOf(carol));
  const send = async (vault: string, recipient_uuid: string = crypto.randomUUID()) =>
    (await alice.call('POST', `${vaults}/${vault}/invites`, { body: { ...fields, recipient_uuid } })).status;
  t.is(await send(one), 400);
  t.is(await send(two), 200);
  t.is(await send(two), 400);
  t.is(await send(one, uuidOf(carol)), 200);
  t.is((await accept(carol, one, toCarol)).status, 400);
  t.is((await accept(bob, one, toBob)).status, 200);
  const { invites } = await rowsOf(server, one);
  t.is((await accept(carol, one, invites[0]?.uuid ?? '')).status, 400);
  t.is((await rowsOf(server, one)).invites.length, 1);

  await makeVault(bob);
  t.is((await bob.call('POST', vaults)).status, 400);
  t.is((await alice.call('DELETE', `${vaults}/${one}/users/${uuidOf(bob)}`)).status, 200);
  t.is((await accept(carol, one, invites[0]?.uuid ?? '')).status, 200);
  await makeVault(bob);
});

test('the content of invites is bounded, each and all of an account together, as sent or as changed', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const vault = await makeVault(alice);
  const invites = `${vaults}/${vault}/invites`;
  const send = (bytes: number) =>
    alice.call('POST', invites, {
      body: { ...fields, encrypted_message: 'x'.repeat(bytes), recipient_uuid: crypto.randomUUID() },
    });
  const change = ({ body }: Answer, bytes: number) =>
    alice.call('PATCH', `${invites}/${body.invite.uuid}`, { body: { encrypted_message: 'x'.repeat(bytes) } });
  const most = 64 * 1_024;
  t.is((await send(most + 1)).status, 400);
  const small = await send(1);
  const other = await send(1);
  for (let sent = 0; sent < 127; sent += 1) t.is((await send(most)).status, 200);
  t.is((await change(small, most + 1)).status, 400);
  t.is((await change(small, most)).status, 200);
  t.is((await change(other, most)).status, 400);
  t.is((await send(1)).status, 400);
  t.is((await change(small, 1)).status, 200);
  t.is((await change(other, most)).status, 200);
  t.is((await send(1)).status, 400);
  t.is((await alice.call('GET', `${vaults}/invites/outbound`)).body.invites.length, 129);
  t.is((await alice.call('DELETE', `${vaults}/invites/outbound`)).status, 200);
  t.is((await send(1)).status, 200);
});

test('an account that was deleted is let in nowhere by what it had asked for before', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(alice);
  const inviteUuid = await invite(alice, vault, uuidOf(bob));
  await server.advance(10_000);
  await deleteAccount(bob);
  await server.advance(20_000);
  // The messages that its actor sent earlier arrive only now.
  const late = await server.host.actors.get(Vault, vault).ask.acceptInvite({ by: uuidOf(bob), inviteUuid });
  t.true('refused' in late);
  t.is((await rowsOf(server, vault)).members.length, 1);
});

test('a vault of many members and invites ends for all at once, whoever asks meanwhile', async (t) => {
  const server = await startServer(t, { vaults: { invitesMax: 50 } });
  const alice = await server.device();
  const vault = await makeVault(alice);
  const { ask } = server.host.actors.get(Vault, vault);
  const by = uuidOf(alice);
  async function invited() {
    const recipientUuid = crypto.randomUUID();
    const answer = await ask.invite({ by, recipientUuid, encryptedMessage: 'x', permission: 'read' });
    if ('refused' in answer) throw new Error(answer.refused.message);
    return { by: recipientUuid, inviteUuid: answer.ok.invite.uuid };
  }
  for (let members = 1; members < 40; members += 1) await ask.acceptInvite(await invited());
  for (let invites = 0; invites < 50; invites += 1) await invited();
  const before = await rowsOf(server, vault);
  t.deepEqual([before.members.length, before.invites.length], [40, 50]);
  let isOver = false;
  const ended = alice.call('DELETE', `${vaults}/${vault}`).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const { members, invites } = await rowsOf(server, vault);
    t.true([90, 0].includes(members.length + invites.length));
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.is((await ended).status, 200);
  const after = await rowsOf(server, vault);
  t.is(wrongWith(after), undefined);
  t.deepEqual([after.vault, after.members.length, after.invites.length], [undefined, 0, 0]);
});

test('a member who asks while being removed finds out nothing', async (t) => {
  const { server, alice, bob, vault } = await startSharedVault(t);
  const pending = [0, 1, 2, 3].map(() => bob.call('GET', vaults));
  const removed = alice.call('DELETE', `${vaults}/${vault}/users/${uuidOf(bob)}`);
  await Promise.all([...pending, removed]);
  t.deepEqual((await bob.call('GET', vaults)).body, { sharedVaults: [], designatedSurvivors: [] });
  const { ask } = server.host.actors.get(Vault, vault);
  t.deepEqual(await ask.sentInvites({ by: uuidOf(bob) }), { invites: [] });
});

test('an account does not grow without end by vaults that are filled and ended', async (t) => {
  const bytesOfTwo = 2 * (640 + '004:ciphertext'.length + '004:key'.length);
  const server = await startServer(t, { items: { quota: { items: 0, bytes: bytesOfTwo } } });
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const bobs = await makeVault(bob);
  const inviteUuid = await invite(bob, bobs, uuidOf(alice));
  await alice.sync({ items: [note({ uuid: uuidNumber(9) })] });
  const vault = await makeVault(alice);
  const inVault = { shared_vault_uuid: vault, key_system_identifier: 'system' };
  await alice.sync({ items: [1, 2].map((n) => note({ uuid: uuidNumber(n), ...inVault })) });
  t.is((await alice.call('DELETE', `${vaults}/${vault}`)).status, 200);
  await server.advance(20_000);
  const { retrieved_items: home } = await alice.sync({ sync_token: null });
  t.is(home.length, 3);

  const refusals = [await alice.call('POST', vaults), await accept(alice, bobs, inviteUuid)];
  for (const { status, body } of refusals) {
    t.is(status, 413);
    t.regex(body.error.message, /^This account holds as much as this server allows\./);
  }
  t.is((await rowsOf(server, bobs)).members.length, 1);
  const gone = home.slice(0, 2).map(({ uuid, updated_at_timestamp }) => deletion(uuid, updated_at_timestamp));
  t.is((await alice.sync({ items: gone })).saved_items.length, 2);
  t.is((await alice.call('POST', vaults)).status, 200);
  t.is((await accept(alice, bobs, inviteUuid)).status, 200);
});
