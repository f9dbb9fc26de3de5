/** Two hosts, a separate gateway, and the sockets of one user: for tests of lost pushes. */
import { Registry } from 'prom-client';
import type { SignInReply } from '../../actors/identity/session.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { isRefused } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { Items } from '../../actors/user/items/contract.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
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
import { alice, challengeOf, headerSessions } from './account.ts';
import { type ClusterNode, TestCluster } from './cluster.ts';
import { note, uuidNumber } from './items.ts';
import { domainOf, sessionTokens, signinKeys } from './server.ts';

interface Device extends Credentials {
  readonly frames: { readonly type: string }[];
  readonly socket: OpenSocket;
  /** The code with which the gateway closed the socket. */
  readonly closedWith: () => number | undefined;
}

const none = () => 0;
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
async function openSession(actors: Actors, userUuid: string, email = alice.email): Promise<Credentials> {
  const registered = await actors
    .get(Account, userUuid)
    .ask.register({ ...opening, email, keyParams: { pw_nonce: alice.pw_nonce, version: '004' } });
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

/** Two hosts and a separate gateway, and a user at one host with two devices that have sockets. */
export async function openWorld() {
  const cluster = new TestCluster(domainOf({}));
  const [a, b] = await cluster.joinAll(['a', 'b']);
  const { random, shardCount } = cluster;
  const transport = cluster.network.join();
  const clock = transport.process;
  const registry = new Registry();
  const metrics = prometheusSocketMetrics(registry, { open: none, users: none, waiting: none, vaults: none });
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

  const endSession = (credentials: Credentials) => actors.get(Sessions, userUuid).ask.logout({ credentials });

  async function device(): Promise<Device> {
    const credentials = await cluster.until(openSession(actors, userUuid));
    const frames: { type: string }[] = [];
    let code: number | undefined;
    const socket = new OpenSocket({ userUuid, sessionUuid: credentials.identifier });
    hub.add(socket);
    if (!(await cluster.until(hub.check(socket)))) throw new Error('refused');
    socket.opened({
      send: (text) => frames.push(JSON.parse(text)) && 1,
      end: (reason) => {
        code = reason;
        socket.closed('client');
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
    /** As many further users of the same shard, each with a socket that has no device. */
    async neighbours(count: number): Promise<void> {
      const shard = shardOf({ kind: 'user', id: userUuid }, shardCount);
      for (let made = 0; made < count; made += 1) {
        let id = random.uuid();
        while (shardOf({ kind: 'user', id }, shardCount) !== shard) id = random.uuid();
        const { identifier } = await cluster.until(openSession(actors, id, `neighbour-${made}@example.com`));
        const socket = new OpenSocket({ userUuid: id, sessionUuid: identifier });
        hub.add(socket);
        if (!(await cluster.until(hub.check(socket)))) throw new Error('refused');
      }
    },
    thirdSession: () => cluster.until(openSession(actors, userUuid)),
    phone,
    laptop,
    actors,
    shard: shardOf({ kind: 'user', id: userUuid }, shardCount),
    /** A save by the phone. Its host may die before it answers. */
    save(): Promise<unknown> {
      saves += 1;
      const request = { api: '20240226', snjs_version: '2.204.7', credentials: phone };
      const items = [note({ uuid: uuidNumber(saves) })];
      return actors.get(Items, userUuid).ask.sync({ ...request, items });
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

/** Loses everything that this host publishes from now on. */
export function losing(node: ClusterNode, instead: () => void = () => {}): () => void {
  const { publish } = node.transport;
  node.transport.publish = instead;
  return () => {
    node.transport.publish = publish;
  };
}
