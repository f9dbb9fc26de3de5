/** That a push which was lost is made up for: several hosts, a gateway apart from them, and whatever costs an event. */
import test from 'ava';
import { Registry } from 'prom-client';
import type { SignInReply } from '../../actors/identity/session.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { isRefused } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { User } from '../../actors/user/contract.ts';
import { gatewaySettings } from '../../gateway/settings.ts';
import { Hub } from '../../gateway/sockets/hub.ts';
import { prometheusSocketMetrics } from '../../gateway/sockets/metrics.ts';
import { OpenSocket } from '../../gateway/sockets/open-socket.ts';
import { shardOf } from '../../runtime/address.ts';
import { createSubscribe } from '../../runtime/events/subscriptions.ts';
import type { Actors } from '../../runtime/handles.ts';
import { createActors } from '../../runtime/host/actors.ts';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { defaultsOf } from '../../runtime/setting.ts';
import { alice, challengeOf, headerSessions } from '../kit/account.ts';
import { type ClusterNode, TestCluster } from '../kit/cluster.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { domainOf, sessionTokens, signinKeys } from '../kit/server.ts';

interface Device extends Credentials {
  readonly frames: { readonly type: string }[];
  readonly socket: OpenSocket;
  /** The code with which the gateway closed the socket. */
  readonly closedWith: () => number | undefined;
}

const address = { email: alice.email, workspace: '' };
const device = { ipAddress: null, userAgent: null, snjsVersion: null, applicationVersion: null };
const opening = {
  ...address,
  password: alice.password,
  apiVersion: headerSessions,
  ephemeral: false,
  device,
};

/** Registers the user with this uuid, or signs in again. */
async function openSession(actors: Actors, userUuid: string): Promise<Credentials> {
  const registered = await actors
    .get(User, userUuid)
    .ask.register({ ...opening, keyParams: { pw_nonce: alice.pw_nonce, version: '004' } });
  if (!isRefused(registered)) return credentialsOf(registered.ok);
  const signin = actors.get(Signin, signinKeys.actorId(address)).ask;
  await signin.loginParams({ ...address, codeChallenge: challengeOf('verifier'), device });
  const reply = await signin.login({ ...opening, codeVerifier: 'verifier' });
  if (isRefused(reply)) throw new Error(reply.refused.message);
  return credentialsOf(reply.ok);
}

function credentialsOf(reply: SignInReply): Credentials {
  const credentials = 'session' in reply ? sessionTokens.verify(reply.session.access_token) : undefined;
  if (credentials === undefined) throw new Error('not a token');
  return credentials;
}

/** Two hosts and a gateway of its own, and a user at one of them with two devices that have sockets. */
async function openWorld() {
  const cluster = new TestCluster(domainOf({}));
  const [a, b] = await cluster.joinAll(['a', 'b']);
  const { random, shardCount } = cluster;
  const transport = cluster.network.join();
  const clock = transport.process;
  const registry = new Registry();
  const metrics = prometheusSocketMetrics(registry, { open: () => 0, users: () => 0, waiting: () => 0 });
  const { defaultDeadlineMs } = defaultLimits;
  const actors = createActors({ transport, clock, random, defaultDeadlineMs });
  const limits = defaultsOf(gatewaySettings).sockets;
  const hub = new Hub({
    actors,
    subscribe: createSubscribe({ transport, clock, random, logger: silentLogger, shardCount }),
    clock,
    random,
    metrics,
    limits,
  });
  let userUuid = random.uuid();
  while (!a.transport.isRouted(shardOf({ kind: 'user', id: userUuid }, shardCount))) userUuid = random.uuid();
  let saves = 0;

  const endSession = (credentials: Credentials) => actors.get(User, userUuid).ask.logout({ credentials });

  async function device(): Promise<Device> {
    const credentials = await cluster.until(openSession(actors, userUuid));
    const frames: { type: string }[] = [];
    let code: number | undefined;
    const socket = new OpenSocket({ userUuid, sessionUuid: credentials.identifier });
    hub.add(socket);
    if (!(await cluster.until(hub.check(socket)))) throw new Error('refused');
    socket.opened({
      send: (text) => frames.push(JSON.parse(text)) && 1,
      end: (given) => {
        code = given;
        socket.closed();
        hub.remove(socket);
      },
      close: () => {},
    });
    return { ...credentials, frames, socket, closedWith: () => code };
  }

  const [phone, laptop] = [await device(), await device()];
  return {
    cluster,
    a,
    b,
    hub,
    transport,
    endSession,
    thirdSession: () => cluster.until(openSession(actors, userUuid)),
    phone,
    laptop,
    shard: shardOf({ kind: 'user', id: userUuid }, shardCount),
    /** A save by the phone, which its own host may not live to answer. */
    save(): Promise<unknown> {
      saves += 1;
      const request = { api: '20240226', snjs_version: '2.204.7', credentials: phone };
      const items = [note({ uuid: uuidNumber(saves) })];
      return actors.get(User, userUuid).ask.sync({ ...request, items });
    },
    /** Milliseconds until `condition` holds. */
    async within(limitMs: number, condition: () => boolean): Promise<number> {
      const startMs = clock.monotonicMs();
      while (!condition()) {
        if (clock.monotonicMs() - startMs > limitMs) throw new Error(`not within ${limitMs} ms`);
        await cluster.clock.advance(50);
      }
      return clock.monotonicMs() - startMs;
    },
    metrics: () => registry.metrics(),
  };
}

/** Loses what this host publishes from now on. */
function losing(node: ClusterNode, instead: () => void = () => {}): () => void {
  const { publish } = node.transport;
  node.transport.publish = instead;
  return () => {
    node.transport.publish = publish;
  };
}

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

test('an event that was lost shows with the next one', async (t) => {
  const world = await openWorld();
  const tablet = await world.thirdSession();
  const found = losing(world.a);
  await world.cluster.until(world.save());
  found();
  await world.cluster.until(world.endSession(tablet));
  await world.within(1_000, () => world.laptop.frames.length > 0);
  t.regex(await world.metrics(), /^socket_repairs_total{cause="gap"} 1$/m);
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
  await world.cluster.until(world.b.actors.get(User, phone.userUuid).ask.sync(request));
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
  t.regex(await world.metrics(), /^socket_repairs_total{cause="due"} 1$/m);
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
    socket.closed();
    world.hub.remove(socket);
    world.hub.remove(socket);
  }
  t.is(world.hub.size, 0);
  t.is(world.hub.users, 0);
  world.transport.heal();
  await world.cluster.clock.advance(30_000);
  t.notRegex(await world.metrics(), /socket_repairs_total{/);
});
