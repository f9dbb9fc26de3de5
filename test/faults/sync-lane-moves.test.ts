/** The in-memory state of the sync lane, on two hosts: a move may lose it, and nobody may profit from that. */
import test from 'ava';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { isRefused } from '../../actors/reply.ts';
import { Items } from '../../actors/user/items/contract.ts';
import { SyncLane } from '../../actors/user/sync-lane/contract.ts';
import { note } from '../kit/items.ts';
import { losing, openWorld } from '../kit/push-world.ts';

type World = Awaited<ReturnType<typeof openWorld>>;

const asksOf = ({ actors, phone }: World) => actors.get(SyncLane, phone.userUuid).ask;
const digest = 'a'.repeat(64);

async function mint(world: World, credentials: Credentials = world.phone) {
  const minted = await world.cluster.until(asksOf(world).mintSyncTicket({ credentials }));
  if (isRefused(minted)) throw new Error(minted.refused.message);
  const { issuedAtMs: _issued, ...claims } = minted.ok;
  return claims;
}

test('a ticket is spent once, and is worth nothing at the host that its user has moved to', async (t) => {
  const world = await openWorld();
  const spend = async (claims: Awaited<ReturnType<typeof mint>>, attempt: string) =>
    (await world.cluster.until(asksOf(world).spendSyncTicket({ ...claims, nonce: 'n', attempt }))).verdict;
  const ticket = await mint(world);
  t.is(await spend(ticket, 'one'), 'good');
  t.is(await spend(ticket, 'one'), 'good');
  t.is(await spend(ticket, 'two'), 'spent');
  await world.cluster.drain(world.a);
  await world.within(5_000, () => world.b.transport.isRouted(world.shard));
  t.is(await spend(ticket, 'three'), 'spent');
  t.is(await spend(await mint(world), 'three'), 'good');
});

test('who redeems a ticket for a watched session hears of its end, and asks nothing more', async (t) => {
  const world = await openWorld();
  const tablet = await world.thirdSession();
  const claims = await mint(world, tablet);
  let isEnded = false;
  const watch = world.hub.watchWhileAsking({ userUuid: world.phone.userUuid, ...claims }, () => {
    isEnded = true;
  });
  const request = { ...claims, nonce: 'n', attempt: 'one' };
  t.is((await world.cluster.until(asksOf(world).spendSyncTicket(request))).host, undefined);
  const { gateway } = watch;
  const spent = await world.cluster.until(asksOf(world).spendSyncTicket({ ...request, gateway }));
  t.is(spent.verdict, 'good');
  t.truthy(spent.host);
  t.true((spent.endsInMs ?? 0) > 0);
  await world.cluster.until(world.endSession(tablet));
  await world.cluster.clock.advance(100);
  t.true(isEnded);
});

test('a command that was held is not carried out by the host that its user has moved to', async (t) => {
  const world = await openWorld();
  const { phone: credentials } = world;
  const held = { credentials, commandId: 'command-1', hold: 'one', saves: true, vaults: [] };
  await world.cluster.until(asksOf(world).holdSyncCommand(held));
  await world.cluster.drain(world.a);
  await world.within(5_000, () => world.b.transport.isRouted(world.shard));
  const sentRequest = { credentials, commandId: 'command-1' };
  const status = await world.cluster.until(asksOf(world).getSyncCommand(sentRequest));
  t.like(status, { ok: { command: { status: 'unknown' } } });
  const identity = { id: 'command-1', digest, hold: 'one' };
  const request = { api: '20240226', snjs_version: '2.204.7', credentials, items: [note()] };
  const late = await world.cluster.until(
    world.actors.get(Items, world.phone.userUuid).ask.sync({ ...request, identity }),
  );
  t.true(isRefused(late) && late.refused.tag === 'sync_command_lost');
  const over = await world.cluster.until(
    world.actors
      .get(Items, world.phone.userUuid)
      .ask.sync({ ...request, identity: { id: 'command-1', digest } }),
  );
  t.false(isRefused(over));
});

test('the end of a session is heard within a minute although its event was lost', async (t) => {
  const world = await openWorld();
  const tablet = await world.thirdSession();
  let isEnded = false;
  world.hub.watch({ userUuid: tablet.userUuid, sessionUuid: tablet.identifier }, () => {
    isEnded = true;
  });
  await world.cluster.clock.advance(100);
  const found = losing(world.a);
  await world.cluster.until(world.endSession(tablet));
  found();
  t.false(isEnded);
  await world.within(60_000, () => isEnded);
  t.pass();
});
