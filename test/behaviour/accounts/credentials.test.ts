import test from 'ava';
import { item } from '../../../actors/collection/item.ts';
import { syncItems } from '../../../actors/mod.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import {
  alice,
  bodyOf,
  createWorld,
  register,
  signIn,
  statusOf,
  type Tokens,
  tokensOf,
  type World,
} from './world.ts';

const newPassword = 'd'.repeat(64);

function change(
  world: World,
  { access, userUuid }: Tokens,
  fields: Record<string, unknown> = {},
  callId?: string,
) {
  return world.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
    bearer: access,
    body: {
      current_password: alice.password,
      new_password: newPassword,
      pw_nonce: 'e'.repeat(64),
      api: '20200115',
      ...fields,
    },
    ...(callId && { callId }),
  });
}

function deleteAccount(world: World, { access, userUuid }: Tokens, password?: string) {
  return world.call('DELETE', `/v1/users/${userUuid}`, {
    bearer: access,
    headers: password === undefined ? {} : { 'x-server-password': password },
  });
}

test('a new password ends every other session without a wipe and opens a lasting one', async (t) => {
  const world = await createWorld({ ephemeralSessionAgeMs: 60_000 });
  const mine = await register(world, { ephemeral: true });
  const other = tokensOf(await signIn(world));
  const reply = await change(world, mine);
  t.is(reply.status, 200);
  t.is(reply.setCookies?.length, 2);
  t.like(bodyOf(reply).key_params, { pw_nonce: 'e'.repeat(64), version: '004', origination: 'registration' });
  const fresh = tokensOf(reply);
  t.is(await statusOf(world, fresh), '200');
  t.is(await statusOf(world, mine), '401 invalid-auth');
  t.is(await statusOf(world, other), '401 invalid-auth');
  await world.advance(60_000);
  t.is(await statusOf(world, fresh), '200');
  t.is((await signIn(world)).status, 401);
  t.is((await signIn(world, { password: newPassword })).status, 200);
});

test('a repeated change gets the reply of the first, though its session is gone', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const first = await change(world, mine, {}, 'the same');
  t.deepEqual(await change(world, mine, {}, 'the same'), first);
  t.is(first.status, 200);
});

test('a change can be taken back with the passwords swapped', async (t) => {
  const world = await createWorld();
  const fresh = tokensOf(await change(world, await register(world)));
  const back = await change(world, fresh, { current_password: newPassword, new_password: alice.password });
  t.is(back.status, 200);
  t.is((await signIn(world)).status, 200);
});

test('the same password and address leave the other sessions alive', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const reply = await change(world, mine, { new_password: alice.password });
  t.is(reply.status, 200);
  t.is(await statusOf(world, mine), '200');
  t.is(await statusOf(world, tokensOf(reply)), '200');
});

test('a new address replaces the old one, which is free again', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const reply = await change(world, mine, { new_email: ' Alice@New.example ' });
  t.is(bodyOf(reply).user.email, 'alice@new.example');
  t.is((await signIn(world, { password: newPassword })).status, 401);
  t.is((await signIn(world, { email: 'alice@new.example', password: newPassword })).status, 200);
  await register(world);
});

test('an address that is taken is refused and nothing changes, also when two want it at once', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const bob = await register(world, { email: 'bob@example.org' });
  const taken = await change(world, mine, { new_email: 'bob@example.org' });
  t.is(taken.status, 401);
  t.is(await statusOf(world, mine), '200');
  const replies = await Promise.all([
    change(world, mine, { new_email: 'carol@example.org' }),
    change(world, bob, { new_email: 'carol@example.org' }),
  ]);
  t.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 401]);
});

test('a change says what is wrong with it', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const wrong = await change(world, mine, { current_password: 'x' });
  t.is(wrong.status, 401);
  t.deepEqual(bodyOf(wrong).error, {
    message: 'The current password you entered is incorrect. Please try again.',
  });
  t.is((await change(world, mine, { new_email: 'no' })).status, 401);
  t.is((await change(world, mine, { api: '1' })).status, 401);
  t.is((await change(world, mine, { pw_nonce: undefined })).status, 400);
  t.is((await change(world, mine, { new_password: undefined })).status, 400);
  const foreign = await change(world, { ...mine, userUuid: '00000000-0000-4000-8000-000000000000' });
  t.is(foreign.status, 401);
  t.is(bodyOf(foreign).error.message, 'Operation not allowed.');
  t.is(await statusOf(world, mine), '200');
});

test('a signed-in caller cannot guess the password either', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    t.is((await change(world, mine, { current_password: 'x' })).status, 401);
    t.is((await deleteAccount(world, mine, 'x')).status, 400);
  }
  t.is((await change(world, mine)).status, 423);
  t.is((await deleteAccount(world, mine, alice.password)).status, 423);
  t.is((await signIn(world)).status, 200);
});

test('an address that strangers have locked does not keep its owner from changing the password', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  for (let attempt = 0; attempt < 12; attempt += 1) await signIn(world, { password: 'x' });
  t.is((await signIn(world)).status, 423);
  t.is((await change(world, mine)).status, 200);
  await world.advance(1_000);
  t.is((await signIn(world, { password: newPassword })).status, 200);
});

test('the right password gives the attempts back after a change too', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  for (let attempt = 0; attempt < 11; attempt += 1) await change(world, mine, { current_password: 'x' });
  await change(world, mine);
  await world.advance(1_000);
  t.is((await signIn(world)).status, 401);
  t.is((await signIn(world, { password: newPassword })).status, 200);
});

test('a deleted account is gone at once, its tokens are invalid and its address is free', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const deleted = await deleteAccount(world, mine, alice.password);
  t.is(deleted.status, 200);
  t.is(typeof bodyOf(deleted).message, 'string');
  t.is(await statusOf(world, mine), '401 invalid-auth');
  t.is((await signIn(world)).status, 401);
  const foreign = { ...mine, userUuid: '00000000-0000-4000-8000-000000000000' };
  t.is((await deleteAccount(world, mine, alice.password)).status, 200);
  t.is((await deleteAccount(world, foreign, alice.password)).status, 401);
  await world.advance(10_000);
  t.is(await statusOf(world, mine), '401 invalid-auth');
  t.is((await deleteAccount(world, mine, alice.password)).status, 200);
  t.is((await deleteAccount(world, foreign, alice.password)).status, 401);
  const again = await register(world);
  t.not(again.userUuid, mine.userUuid);
});

test('a deletion that is refused says why in the words clients compare', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const messageOf = async (tokens: Tokens, password?: string) => {
    const reply = await deleteAccount(world, tokens, password);
    return `${reply.status} ${bodyOf(reply).error.message}`;
  };
  t.is(await messageOf(mine), '400 Please update your application to the latest version.');
  t.is(await messageOf(mine, 'x'), '400 The password you entered is incorrect. Please try again.');
  const foreign = { ...mine, userUuid: '00000000-0000-4000-8000-000000000000' };
  t.is(await messageOf(foreign, alice.password), '401 Operation not allowed.');
  t.is(await statusOf(world, mine), '200');
});

test('an account whose purge has run answers like one that never was', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  await deleteAccount(world, mine, alice.password);
  await world.advance(10_000);
  world.host = await world.host.restart();
  t.is(await statusOf(world, mine), '401 invalid-auth');
  const logout = await world.call('POST', '/v1/logout', { bearer: mine.access });
  t.is(logout.status, 401);
});

test('the purge removes every item of a deleted account in bounded commits, and nobody else’s', async (t) => {
  const world = await createWorld();
  const mine = await register(world);
  const bob = await register(world, { email: 'bob@example.org' });
  const save = async ({ access }: Tokens, from: number, count: number) => {
    const credentials = world.services.tokens.verify(access, new Map());
    if (credentials === undefined) throw new Error('not a token');
    const items = Array.from({ length: count }, (_, index) => note({ uuid: uuidNumber(from + index) }));
    await syncItems(world.host.actors, { credentials, items, snjs_version: null });
  };
  await save(mine, 1, 1_200);
  await save(bob, 5_000, 3);
  const rowsOf = async ({ userUuid }: Tokens) => {
    const [read] = await world.host.store.read([
      { read: 'range', table: item, owner: userUuid, after: 0, through: 1e6, limit: 1e6 },
    ]);
    return read?.rows.length;
  };
  t.is(await rowsOf(mine), 1_200);
  await deleteAccount(world, mine, alice.password);
  await world.advance(60_000);
  t.is(await rowsOf(mine), 0);
  t.is(await rowsOf(bob), 3);
  await save(bob, 1, 2);
  t.is(await rowsOf(bob), 5);
});
