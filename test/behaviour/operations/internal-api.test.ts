/** The internal API from its callers' view, over sockets. */
import { status } from '@grpc/grpc-js';
import test from 'ava';
import { kinds } from '../../../actors/kinds.ts';
import {
  ActorPhase,
  ActorWaitsFor,
  ClusterService,
  NodeState,
} from '../../../proto/generated/scriptorium/v1/cluster.ts';
import { SessionRefusalReason, SessionsService } from '../../../proto/generated/scriptorium/v1/sessions.ts';
import { UserState, UsersService } from '../../../proto/generated/scriptorium/v1/users.ts';
import { OverloadedError } from '../../../runtime/errors.ts';
import type { Actors } from '../../../runtime/handles.ts';
import { StoreError } from '../../../runtime/store/store.ts';
import { alice, register, signIn, tokensOf } from '../../kit/account.ts';
import { drainPromises } from '../../kit/clock.ts';
import { addDead, addNode, callerOf, ownNode, shardCount, startApi } from '../../kit/internal-api.ts';
import { sessionTokens } from '../../kit/server.ts';

const nobody = '11111111-1111-4111-8111-111111111111';
const page = { pageSize: 0, pageToken: '' };

// --- sessions -------------------------------------------------------------------------------------------------

test('a caller with a living session is described by user, session, roles and access, and nothing secret', async (t) => {
  const world = await startApi(t);
  const { access, userUuid } = await register(world.server);
  const answer = await callerOf(t, world.address).ask(SessionsService.validate, {
    authorization: `Bearer ${access}`,
    cookie: '',
  });
  t.like(answer.outcome, { $case: 'session', value: { userUuid, readOnly: false } });
  const [, sessionUuid] = /\.([0-9a-f-]{36})\./.exec(access) ?? [];
  t.like(answer.outcome, { value: { sessionUuid, roles: [{ name: 'CORE_USER' }, { name: 'PRO_USER' }] } });
  t.false(JSON.stringify(answer).includes(access.split(':')[2] ?? ''));
});

test('a session of cookies is valid with its cookies alone', async (t) => {
  const world = await startApi(t);
  const { access, cookie, userUuid } = await register(world.server, { api: '20240226' });
  const { ask } = callerOf(t, world.address);
  const authorization = `Bearer ${access}`;
  t.true(access.startsWith('2:'));
  t.like((await ask(SessionsService.validate, { authorization, cookie })).outcome, { value: { userUuid } });
  t.like((await ask(SessionsService.validate, { authorization, cookie: '' })).outcome, {
    $case: 'refusal',
    value: { reason: SessionRefusalReason.INVALID, httpStatus: 401, tag: 'invalid-auth' },
  });
});

test('a caller without a living session gets the refusal that its client understands', async (t) => {
  const world = await startApi(t, { settings: { accessTokenAgeMs: 60_000 } });
  const { server } = world;
  const { ask } = callerOf(t, world.address);
  const refusalOf = async (bearer: string) => {
    const { outcome } = await ask(SessionsService.validate, {
      authorization: `Bearer ${bearer}`,
      cookie: '',
    });
    if (outcome?.$case !== 'refusal') throw new Error('it was valid');
    const { reason, httpStatus, tag } = outcome.value;
    return `${reason} ${httpStatus} ${tag}`;
  };
  const first = await register(server);
  const second = tokensOf(await signIn(server));
  await server.call('DELETE', '/v1/sessions', { bearer: first.access });
  t.is(await refusalOf(''), 'SESSION_REFUSAL_REASON_INVALID 401 invalid-auth');
  t.is(await refusalOf('1:nonsense'), 'SESSION_REFUSAL_REASON_INVALID 401 invalid-auth');
  t.is(await refusalOf(second.access), 'SESSION_REFUSAL_REASON_REVOKED 401 revoked-session');
  await server.advance(60_000);
  t.is(await refusalOf(first.access), 'SESSION_REFUSAL_REASON_EXPIRED 498 expired-access-token');
  const foreign = sessionTokens.mintHeaderToken(nobody, nobody, 'x'.repeat(43));
  t.is(await refusalOf(foreign), 'SESSION_REFUSAL_REASON_INVALID 401 invalid-auth');
});

// --- nodes and shards -----------------------------------------------------------------------------------------

test('nodes are listed by name with their state and shards, in pages', async (t) => {
  const world = await startApi(t);
  const { ask } = callerOf(t, world.address);
  const { store } = world.server.host;
  await addNode(world, 'a-drains');
  await store.setDraining('a-drains', true);
  const gone = await addNode(world, 'z-gone', 'host');
  await store.leave(gone.id, gone.incarnation);
  const { nodes } = await ask(ClusterService.listNodes, page);
  t.deepEqual(
    nodes.map(({ id, state, shards }) => [id, state, shards]),
    [
      ['a-drains', NodeState.DRAINING, 0],
      [ownNode, NodeState.LIVE, shardCount],
      ['z-gone', NodeState.GONE, 0],
    ],
  );
  t.like(nodes[2], { incarnation: '', roles: 'host', leaseExpiresInMs: 0, address: 'http://z-gone.test' });
  const names = [];
  for (let pageToken = ''; ; ) {
    const next = await ask(ClusterService.listNodes, { pageSize: 2, pageToken });
    t.true(next.nodes.length <= 2);
    names.push(...next.nodes.map(({ id }) => id));
    pageToken = next.nextPageToken;
    if (pageToken === '') break;
  }
  t.deepEqual(names, ['a-drains', ownNode, 'z-gone']);
});

test('a node whose lease is over and that nobody declared dead is shown as expired', async (t) => {
  const world = await startApi(t, { leaseMs: 10_000 });
  await addNode(world, 'silent');
  world.server.host.host.abandon();
  await world.server.clock.advance(10_000);
  const { nodes } = await callerOf(t, world.address).ask(ClusterService.listNodes, page);
  t.deepEqual(
    nodes.map(({ id, state, leaseExpiresInMs }) => [id, state, leaseExpiresInMs]),
    [
      ['silent', NodeState.EXPIRED, 0],
      [ownNode, NodeState.EXPIRED, 0],
    ],
  );
});

test('shards are summed up by node, and listed by number with their owners when asked', async (t) => {
  const world = await startApi(t);
  const { ask, failing } = callerOf(t, world.address);
  const request = { node: '', list: false, ...page };
  const summary = await ask(ClusterService.listShards, request);
  t.like(summary, { shardCount, freeShards: 0, shards: [], nextPageToken: '' });
  t.like(summary.nodes, [{ node: ownNode, shards: shardCount }]);

  const first = await ask(ClusterService.listShards, { ...request, list: true, pageSize: 10 });
  t.deepEqual(
    first.shards.map(({ shard }) => shard),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  const rest = await ask(ClusterService.listShards, {
    ...request,
    list: true,
    pageToken: first.nextPageToken,
  });
  t.deepEqual(
    rest.shards.map(({ shard }) => shard),
    [10, 11, 12, 13, 14, 15],
  );
  t.is(rest.nextPageToken, '');
  t.true([...first.shards, ...rest.shards].every(({ node, epoch }) => node === ownNode && epoch > 0));

  await addNode(world, 'idle');
  t.deepEqual((await ask(ClusterService.listShards, { ...request, node: 'idle', list: true })).shards, []);
  t.like(await failing(ClusterService.listShards, { ...request, node: 'unknown' }), {
    code: status.NOT_FOUND,
  });
  t.like(await failing(ClusterService.listShards, { ...request, pageToken: 'x' }), {
    code: status.INVALID_ARGUMENT,
    details: 'page_token was not issued by this list.',
  });
  t.like(await failing(ClusterService.listShards, { ...request, pageSize: -1 }), {
    code: status.INVALID_ARGUMENT,
    details: 'page_size is negative.',
  });
});

test('shards whose owner is gone are free, and keep their epoch', async (t) => {
  const world = await startApi(t);
  const { store } = world.server.host;
  const [node] = await store.nodes();
  world.server.host.host.abandon();
  await store.leave(ownNode, node?.incarnation ?? '');
  const found = await callerOf(t, world.address).ask(ClusterService.listShards, {
    node: '',
    list: true,
    ...page,
  });
  t.like(found, { freeShards: shardCount, nodes: [] });
  t.is(found.shards.length, shardCount);
  t.true(found.shards.every((shard) => shard.node === '' && shard.incarnation === ''));
});

test('a node is drained and undrained, and every node hears of it', async (t) => {
  const world = await startApi(t);
  const { ask } = callerOf(t, world.address);
  await addNode(world, 'other');
  const draining = async () =>
    (await world.server.host.store.nodes()).filter((node) => node.draining).map(({ id }) => id);
  await ask(ClusterService.drainNode, { node: ownNode, allowLast: false });
  t.deepEqual(await draining(), [ownNode]);
  await ask(ClusterService.undrainNode, { node: ownNode });
  t.deepEqual(await draining(), []);
  await ask(ClusterService.rebalance, {});
  t.deepEqual(world.hints, [{ hint: 'nodes' }, { hint: 'nodes' }, { hint: 'rebalance' }]);
});

test('a node whose shards no other would take is drained only when that is meant', async (t) => {
  const world = await startApi(t);
  const { ask, failing } = callerOf(t, world.address);
  await addNode(world, 'front', 'gateway');
  const refused = await failing(ClusterService.drainNode, { node: ownNode, allowLast: false });
  t.is(refused.code, status.FAILED_PRECONDITION);
  t.deepEqual(world.hints, []);
  await ask(ClusterService.drainNode, { node: ownNode, allowLast: true });
  t.deepEqual(world.hints, [{ hint: 'nodes' }]);
});

test('a node that is not there can neither be drained nor undrained', async (t) => {
  const { address } = await startApi(t);
  const { failing } = callerOf(t, address);
  t.is((await failing(ClusterService.drainNode, { node: 'x', allowLast: true })).code, status.NOT_FOUND);
  t.is((await failing(ClusterService.undrainNode, { node: 'x' })).code, status.NOT_FOUND);
  const missing = await failing(ClusterService.drainNode, { node: '', allowLast: true });
  t.like(missing, { code: status.INVALID_ARGUMENT, details: 'node is missing.' });
});

// --- actors ---------------------------------------------------------------------------------------------------

test('an actor is found with its node, and is no longer in memory once it was evicted', async (t) => {
  const world = await startApi(t);
  const { userUuid } = await register(world.server);
  await drainPromises();
  const { ask } = callerOf(t, world.address);
  const actor = { kind: 'user', id: userUuid };
  const found = await ask(ClusterService.findActor, { actor });
  t.like(found, { node: ownNode, phase: ActorPhase.ACTIVE, waitsFor: ActorWaitsFor.NOTHING, deadTimers: 0 });
  t.true((found.version ?? 0) > 0);
  t.deepEqual(await ask(ClusterService.evictActor, { actor }), { evicted: true });
  t.is((await ask(ClusterService.findActor, { actor })).phase, ActorPhase.PASSIVE);
  t.deepEqual(await ask(ClusterService.evictActor, { actor }), { evicted: false });
});

test('looking for an actor that does not exist shows where it would live and creates none', async (t) => {
  const world = await startApi(t);
  const { ask } = callerOf(t, world.address);
  const actor = { kind: 'user', id: nobody };
  for (let check = 0; check < 2; check += 1) {
    const found = await ask(ClusterService.findActor, { actor });
    t.like(found, { node: ownNode, phase: ActorPhase.PASSIVE, version: undefined });
  }
  t.is(await world.server.host.store.head(actor), undefined);
});

test('an invalid address of an actor is refused in words', async (t) => {
  const { address } = await startApi(t);
  const { failing } = callerOf(t, address);
  const wrong = async (actor: { kind: string; id: string } | undefined) => {
    const { code, details } = await failing(ClusterService.findActor, { actor });
    t.is(code, status.INVALID_ARGUMENT);
    return details;
  };
  t.is(await wrong(undefined), 'actor is missing.');
  t.is(await wrong({ kind: 'user', id: '' }), 'actor.id is missing.');
  t.is(
    await wrong({ kind: 'ghost', id: 'x' }),
    `actor.kind is not a kind of actor; there are: ${kinds.map(({ name }) => name).join(', ')}.`,
  );
  t.is(await wrong({ kind: 'user', id: 'x'.repeat(513) }), 'actor.id is too long: at most 512 characters.');
});

// --- backlog --------------------------------------------------------------------------------------------------

test('dead timers and tells are counted, listed and revived', async (t) => {
  const world = await startApi(t);
  const { tellId } = await addDead(world, nobody);
  const { ask, failing } = callerOf(t, world.address);
  const actor = { kind: 'user', id: nobody };
  t.deepEqual(await ask(ClusterService.listBacklog, { limit: 0 }), {
    pendingTimers: 0,
    pendingTells: 0,
    deadTimerCount: 1,
    deadTellCount: 1,
    deadTimers: [{ actor, name: 'purge', due: new Date(Date.UTC(2025, 11, 31)), attempts: 10 }],
    deadTells: [
      { tellId, target: actor, sender: { kind: 'signin', id: 'ab'.repeat(32) }, name: 'greet', attempts: 10 },
    ],
  });
  await ask(ClusterService.reviveTimer, { actor, name: 'purge' });
  await ask(ClusterService.reviveTell, { target: actor, tellId });
  t.like(await ask(ClusterService.listBacklog, { limit: 1 }), { deadTimerCount: 0, deadTellCount: 0 });
  t.is((await failing(ClusterService.reviveTimer, { actor, name: 'purge' })).code, status.NOT_FOUND);
  t.is((await failing(ClusterService.reviveTell, { target: actor, tellId })).code, status.NOT_FOUND);
  const noUuid = await failing(ClusterService.reviveTell, { target: actor, tellId: 'x' });
  t.like(noUuid, { code: status.INVALID_ARGUMENT, details: 'tell_id is not a uuid.' });
});

// --- users ----------------------------------------------------------------------------------------------------

test('a user is found by the address as people write it, shown, and signed out everywhere', async (t) => {
  const world = await startApi(t);
  const { userUuid } = await register(world.server);
  const { ask } = callerOf(t, world.address);
  t.deepEqual(await ask(UsersService.find, { email: ' Alice@Example.org ', workspace: '' }), { userUuid });
  const view = await ask(UsersService.show, { userUuid: userUuid.toUpperCase() });
  t.like(view, { userUuid, state: UserState.ACTIVE, email: alice.email, sessions: 1, items: 0 });
  t.is(view.created?.getTime(), world.server.clock.nowMs());
  t.deepEqual(await ask(UsersService.signOut, { userUuid }), { endedSessions: 1 });
  t.is((await ask(UsersService.show, { userUuid })).sessions, 0);
  t.false(JSON.stringify(world.log).includes('alice'));
  t.false(JSON.stringify(world.log).includes(userUuid));
});

test('a user is promoted and demoted, which is logged without the address', async (t) => {
  const world = await startApi(t);
  const { userUuid } = await register(world.server);
  const { ask } = callerOf(t, world.address);
  const rolesOf = async () => (await ask(UsersService.show, { userUuid })).roles;
  t.deepEqual(await ask(UsersService.promote, { userUuid }), { changed: true });
  t.deepEqual(await ask(UsersService.promote, { userUuid }), { changed: false });
  t.true((await rolesOf()).includes('INTERNAL_TEAM_USER'));
  t.deepEqual(await ask(UsersService.demote, { userUuid }), { changed: true });
  t.false((await rolesOf()).includes('INTERNAL_TEAM_USER'));
  t.like(world.log, [
    { userUuid, administrator: true, changed: true },
    { userUuid, administrator: true, changed: false },
    { userUuid, administrator: false, changed: true },
  ]);
  t.false(JSON.stringify(world.log).includes('alice'));
});

test('a user is banned and unbanned, an administrator only once demoted, and the reason is not logged', async (t) => {
  const world = await startApi(t);
  const { userUuid } = await register(world.server);
  const { ask, failing } = callerOf(t, world.address);
  await ask(UsersService.promote, { userUuid });
  const banned = { userUuid, reason: 'a secret reason' };
  t.is((await failing(UsersService.ban, banned)).code, status.FAILED_PRECONDITION);
  await ask(UsersService.demote, { userUuid });
  t.deepEqual(await ask(UsersService.ban, banned), { changed: true });
  t.deepEqual(await ask(UsersService.ban, banned), { changed: false });
  t.like(await ask(UsersService.show, { userUuid }), { banned: true, sessions: 0 });
  t.deepEqual(await ask(UsersService.unban, { userUuid }), { changed: true });
  t.deepEqual(await ask(UsersService.unban, { userUuid }), { changed: false });
  t.false((await ask(UsersService.show, { userUuid })).banned);
  t.like(world.log.slice(-2), [
    { userUuid, banned: false, changed: true },
    { userUuid, banned: false, changed: false },
  ]);
  t.false(JSON.stringify(world.log).includes('secret'));
});

test('an audit trail is listed page by page, the newest first', async (t) => {
  const world = await startApi(t);
  const { userUuid } = await register(world.server);
  const { ask, failing } = callerOf(t, world.address);
  await ask(UsersService.promote, { userUuid });
  await ask(UsersService.ban, { userUuid, reason: '' }).catch(() => undefined);
  const newest = await ask(UsersService.listAuditEvents, { userUuid, pageSize: 1, pageToken: '' });
  t.like(newest, { nextPageToken: '2' });
  t.like(newest.events[0], { number: 2, event: 'made-administrator', times: 1, device: '', ipAddress: '' });
  const { nextPageToken: pageToken } = newest;
  const older = await ask(UsersService.listAuditEvents, { userUuid, pageSize: 1, pageToken });
  t.like(older, { nextPageToken: '' });
  t.is(older.events[0]?.event, 'registered');
  t.is(older.events[0]?.last?.getTime(), world.server.clock.nowMs());
  const wrong = { userUuid, pageSize: 1, pageToken: 'x' };
  t.is((await failing(UsersService.listAuditEvents, wrong)).code, status.INVALID_ARGUMENT);
});

test('a user that is not there is not found, and what is no user is refused in words', async (t) => {
  const { address } = await startApi(t);
  const { failing } = callerOf(t, address);
  t.is(
    (await failing(UsersService.find, { email: 'bob@example.org', workspace: '' })).code,
    status.NOT_FOUND,
  );
  t.is((await failing(UsersService.show, { userUuid: nobody })).code, status.NOT_FOUND);
  t.is((await failing(UsersService.signOut, { userUuid: nobody })).code, status.NOT_FOUND);
  t.is((await failing(UsersService.promote, { userUuid: nobody })).code, status.NOT_FOUND);
  t.is((await failing(UsersService.demote, { userUuid: nobody })).code, status.NOT_FOUND);
  t.is((await failing(UsersService.ban, { userUuid: nobody, reason: '' })).code, status.NOT_FOUND);
  t.is((await failing(UsersService.unban, { userUuid: nobody })).code, status.NOT_FOUND);
  const trail = { userUuid: nobody, pageSize: 0, pageToken: '' };
  t.is((await failing(UsersService.listAuditEvents, trail)).code, status.NOT_FOUND);
  t.like(await failing(UsersService.find, { email: '', workspace: '' }), { details: 'email is missing.' });
  t.like(await failing(UsersService.show, { userUuid: 'bob' }), { details: 'user_uuid is not a uuid.' });
});

// --- common parts of all calls --------------------------------------------------------------------------------

const actorsThat = (answer: (deadlineMs: number | undefined) => Promise<never>): Actors =>
  ({
    get: () => ({
      ask: new Proxy(
        {},
        { get: () => (_: unknown, options: { deadlineMs?: number }) => answer(options.deadlineMs) },
      ),
    }),
  }) as never;

test('a call past its deadline ends, and what it asked of an actor had the same deadline', async (t) => {
  // The call must reach the actor by then, on a machine that is busy with other tests.
  const limitMs = 3_000;
  const deadlines: (number | undefined)[] = [];
  const actors = actorsThat((deadlineMs) => {
    deadlines.push(deadlineMs);
    return new Promise(() => {});
  });
  const { address } = await startApi(t, { api: { actors } });
  const { failing, ask } = callerOf(t, address);
  t.is((await ask(ClusterService.listNodes, page)).nodes.length, 1);
  const late = await failing(UsersService.show, { userUuid: nobody }, limitMs);
  t.is(late.code, status.DEADLINE_EXCEEDED);
  const [deadlineMs = 0] = deadlines;
  t.true(deadlineMs > 0 && deadlineMs <= limitMs, String(deadlineMs));
  t.is((await ask(ClusterService.listNodes, page)).nodes.length, 1);
});

test('a message over the bound is refused, and the connection goes on', async (t) => {
  const { address } = await startApi(t);
  const { failing, ask } = callerOf(t, address);
  const large = await failing(SessionsService.validate, { authorization: 'x'.repeat(9_000_000), cookie: '' });
  t.is(large.code, status.RESOURCE_EXHAUSTED);
  t.is((await ask(ClusterService.listNodes, page)).nodes.length, 1);
});

test('bytes that are no message are refused, and the server lives', async (t) => {
  const { address } = await startApi(t);
  const { failing, ask } = callerOf(t, address);
  const damaged = { ...ClusterService.findActor, requestSerialize: () => Buffer.from([0x0a, 0xff, 0xff]) };
  t.is((await failing(damaged, { actor: undefined })).code, status.INTERNAL);
  t.is((await ask(ClusterService.listNodes, page)).nodes.length, 1);
});

test('an unforeseen error gives the caller an id and the log the rest', async (t) => {
  const failing = actorsThat(() => Promise.reject(new TypeError('secret internals')));
  const world = await startApi(t, { api: { actors: failing } });
  const error = await callerOf(t, world.address).failing(UsersService.show, { userUuid: nobody });
  t.is(error.code, status.INTERNAL);
  t.false(error.details.includes('secret'));
  const [line] = world.log as { requestId: string; method: string; error: { message: string } }[];
  t.true(error.details.includes(line?.requestId ?? 'none'));
  t.like(line, { method: 'scriptorium.v1.Users/Show', error: { message: 'secret internals' } });
});

test('overload is reported with the time after which to come back', async (t) => {
  const actors = actorsThat(() => Promise.reject(new OverloadedError('full', 1_500)));
  const { address } = await startApi(t, { api: { actors } });
  const error = await callerOf(t, address).failing(UsersService.show, { userUuid: nobody });
  t.is(error.code, status.RESOURCE_EXHAUSTED);
  t.deepEqual(error.metadata.get('grpc-retry-pushback-ms'), ['1500']);
});

test('a database that is away is said to be, without its own words', async (t) => {
  const away = async () => {
    throw new StoreError('unavailable', 'host 10.0.0.7 refused user alice');
  };
  const store = { nodes: away, shards: away } as never;
  const { address } = await startApi(t, { store });
  const error = await callerOf(t, address).failing(ClusterService.listNodes, page);
  t.like(error, {
    code: status.UNAVAILABLE,
    details: 'The database cannot answer at the moment. Try again.',
  });
});

test('calls are counted by method and code', async (t) => {
  const world = await startApi(t);
  const { ask, failing } = callerOf(t, world.address);
  await ask(ClusterService.listNodes, page);
  await failing(UsersService.show, { userUuid: nobody });
  const text = await world.registry.metrics();
  t.regex(
    text,
    /^scriptorium_grpc_requests_total\{method="scriptorium.v1.Cluster\/ListNodes",code="OK"\} 1$/m,
  );
  t.regex(
    text,
    /^scriptorium_grpc_requests_total\{method="scriptorium.v1.Users\/Show",code="NOT_FOUND"\} 1$/m,
  );
  t.regex(
    text,
    /^scriptorium_grpc_request_duration_seconds_count\{method="scriptorium.v1.Users\/Show"\} 1$/m,
  );
});

test('closing lets a call in flight finish and takes no other', async (t) => {
  let finish = () => {};
  const waits = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const world = await startApi(t);
  const { store } = world.server.host;
  let wasAsked = () => {};
  const reached = new Promise<void>((resolve) => {
    wasAsked = resolve;
  });
  const slow = {
    nodes: async () => {
      wasAsked();
      await waits;
      return store.nodes();
    },
    shards: () => store.shards(),
  };
  const { api, address } = await startApi(t, { store: slow as never });
  const { ask } = callerOf(t, address);
  const inFlight = ask(ClusterService.listNodes, page);
  await reached;
  const closed = api.close();
  const late = await callerOf(t, address).failing(ClusterService.rebalance, {}, 2_000);
  t.is(late.code, status.UNAVAILABLE);
  finish();
  t.is((await inFlight).nodes.length, 1);
  await closed;
});
