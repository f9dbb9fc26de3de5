/** A lost push is always repaired: several hosts, a separate gateway, and every fault that costs an event. */
import test from 'ava';
import { Items } from '../../actors/user/items/contract.ts';
import { OpenSocket } from '../../gateway/sockets/open-socket.ts';
import { note } from '../kit/items.ts';
import { losing, openWorld } from '../kit/push-world.ts';

test('an event reaches the sockets at a gateway of another process', async (t) => {
  const world = await openWorld();
  await world.cluster.until(world.save());
  await world.within(100, () => world.laptop.frames.length > 0);
  t.is(world.laptop.frames[0]?.type, 'ITEMS_CHANGED_ON_SERVER');
  t.deepEqual(world.phone.frames, []);
});

test('a host that dies between commit and publish: the other device learns of it within 15 seconds', async (t) => {
  const world = await openWorld();
  losing(world.a, () => world.cluster.crash(world.a));
  world.save().catch(() => {});
  await world.within(1_000, () => world.a.transport.isCut);
  t.is(world.laptop.frames.length, 0);
  const tookMs = await world.within(15_000, () => world.laptop.frames.length > 0);
  t.log(`${tookMs} ms`);
  t.is(world.laptop.frames[0]?.type, 'ITEMS_CHANGED_ON_SERVER');
});

test('where a shard was handed over, its users are asked to sync, and learn of later changes', async (t) => {
  const world = await openWorld();
  await world.cluster.drain(world.a);
  await world.within(5_000, () => world.laptop.frames.length > 0);
  t.true(world.b.transport.isRouted(world.shard));
  t.is(world.phone.frames.length, 1);
  await world.cluster.clock.advance(5_000);
  const before = world.laptop.frames.length;
  await world.cluster.until(world.save());
  await world.within(100, () => world.laptop.frames.length > before);
  t.is(world.phone.frames.length, before);
});

test('users of a host that has ended are registered again by one message for those of a shard', async (t) => {
  const world = await openWorld();
  await world.neighbours(9);
  const requests: string[] = [];
  const { ask } = world.transport;
  world.transport.ask = (call) => {
    requests.push(call.command);
    return ask.call(world.transport, call);
  };
  losing(world.a, () => world.cluster.crash(world.a));
  world.save().catch(() => {});
  await world.within(15_000, () => world.laptop.frames.length > 0);
  await world.cluster.clock.advance(1_000);
  t.regex(await world.metrics(), /^scriptorium_socket_repairs_total{cause="claimed"} 10$/m);
  t.deepEqual(
    [world.hub.waiting, requests.filter((each) => each !== '$askMany' && each !== 'sync')],
    [0, []],
  );
  await world.cluster.clock.advance(1_000);
  const before = world.laptop.frames.length;
  await world.cluster.until(world.save());
  await world.within(100, () => world.laptop.frames.length > before);
});

test('an event that was lost shows with the next one', async (t) => {
  const world = await openWorld();
  const tablet = await world.thirdSession();
  const found = losing(world.a);
  await world.cluster.until(world.save());
  found();
  await world.cluster.until(world.endSession(tablet));
  await world.within(1_000, () => world.laptop.frames.length > 0);
  t.regex(await world.metrics(), /^scriptorium_socket_repairs_total{cause="gap"} 1$/m);
});

test('the loss of the last event shows within seconds', async (t) => {
  const world = await openWorld();
  const found = losing(world.a);
  await world.cluster.until(world.save());
  found();
  await world.within(12_000, () => world.laptop.frames.length > 0);
  t.is(world.laptop.frames.length, 1);
});

test('a gateway that was cut off has everybody sync once it is back', async (t) => {
  const world = await openWorld();
  world.transport.cut();
  const { phone } = world;
  const request = { api: '20240226', snjs_version: '2.204.7', credentials: phone, items: [note()] };
  await world.cluster.until(world.b.actors.get(Items, phone.userUuid).ask.sync(request));
  await world.cluster.clock.advance(5_000);
  t.is(world.laptop.frames.length, 0);
  world.transport.heal();
  await world.within(2_000, () => world.laptop.frames.length > 0);
  t.is(world.laptop.frames.length, 1);
});

test('when all hints are lost too, everybody syncs within ten minutes', async (t) => {
  const world = await openWorld();
  world.transport.hinted = () => {};
  losing(world.a, () => world.cluster.crash(world.a));
  world.save().catch(() => {});
  await world.within(600_000, () => world.laptop.frames.length > 0);
  t.regex(await world.metrics(), /^scriptorium_socket_repairs_total{cause="due"} 1$/m);
});

test('a session that ended while its host changed has its sockets closed, and the others stay', async (t) => {
  const world = await openWorld();
  losing(world.a, () => world.cluster.crash(world.a));
  world.endSession(world.laptop).catch(() => {});
  const tookMs = await world.within(15_000, () => world.laptop.closedWith() !== undefined);
  t.log(`${tookMs} ms`);
  t.is(world.laptop.closedWith(), 1008);
  t.is(world.phone.closedWith(), undefined);
  t.is(world.hub.size, 1);
});

test('a session that ends while its socket opens gets none', async (t) => {
  const world = await openWorld();
  const socket = new OpenSocket({ userUuid: world.phone.userUuid, sessionUuid: world.laptop.identifier });
  world.hub.add(socket);
  const checking = world.hub.check(socket);
  const ended = world.endSession(world.laptop);
  await world.cluster.until(Promise.all([checking, ended]));
  await world.within(100, () => socket.isClosed);
  t.true(socket.isClosed);
});

test('a user without sockets is subscribed to no more', async (t) => {
  const world = await openWorld();
  for (const { socket } of [world.phone, world.laptop]) {
    socket.closed('client');
    world.hub.remove(socket);
    world.hub.remove(socket);
  }
  t.is(world.hub.size, 0);
  t.is(world.hub.users, 0);
  world.transport.heal();
  await world.cluster.clock.advance(30_000);
  t.notRegex(await world.metrics(), /socket_repairs_total{/);
});
