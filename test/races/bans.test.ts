/** Bans while the banned are busy, on three nodes, and administrators who ban each other. */
import { createHash } from 'node:crypto';
import test from 'ava';
import type { GrantedSession } from '../../actors/identity/session.ts';
import type { Answer } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { Items } from '../../actors/user/items/contract.ts';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { sleep } from '../../runtime/clock.ts';
import { alice, signIn, statusOf } from '../kit/account.ts';
import { becomes, type ClusterNode, loseOnce, TestCluster } from '../kit/cluster.ts';
import { latch } from '../kit/gateway.ts';
import { domainOf, sessionTokens, signinKeys, startServer } from '../kit/server.ts';

const device = { userAgent: 'a test', ipAddress: '203.0.113.7', snjsVersion: null, applicationVersion: null };
const address = { email: alice.email, workspace: 'default' };
const password = 'the password';
const apiVersion = '20200115';
const syncFields = { api: '20240226', items: [], snjs_version: null };

async function started() {
  const cluster = new TestCluster(domainOf({ accounts: { unknownOriginAttemptsMax: 1_000 } }));
  const nodes = await cluster.joinAll(['a', 'b', 'c']);
  const userUuid = '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11';
  const registered = await cluster.until(
    cluster.actors.get(Account, userUuid).ask.register({
      ...address,
      password,
      apiVersion,
      device,
      ephemeral: false,
      keyParams: { pw_nonce: 'nonce', version: '004' },
    }),
  );
  return { cluster, nodes, userUuid, first: issuedBy(registered) };
}

type World = Awaited<ReturnType<typeof started>>;

function issuedBy(answer: Answer<GrantedSession>) {
  if (!('ok' in answer)) throw new Error(answer.refused.message);
  if (!('secrets' in answer.ok)) throw new Error('this is no session');
  const { session, secrets } = answer.ok;
  const credentials = sessionTokens.verify(session.access_token, [secrets.accessSecret]);
  if (credentials === undefined) throw new Error('the token is not one');
  return { credentials, refreshSecret: secrets.refreshSecret, sessionUuid: secrets.sessionUuid };
}

async function login({ actors }: Pick<ClusterNode, 'actors'>, codeVerifier: string) {
  const signin = actors.get(Signin, signinKeys.actorId(address)).ask;
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  await signin.loginParams({ ...address, codeChallenge, device });
  return signin.login({ ...address, password, codeVerifier, apiVersion, ephemeral: false, device });
}

const refreshAt = ({ actors }: ClusterNode, { userUuid, first }: World) =>
  actors.get(Sessions, userUuid).ask.refresh({
    access: first.credentials,
    refreshSecrets: [first.refreshSecret],
    apiVersion,
    device,
  });

const syncAt = ({ actors }: ClusterNode, { userUuid, first }: World) =>
  actors.get(Items, userUuid).ask.sync({ ...syncFields, credentials: first.credentials });

const socketAt = ({ actors, id }: ClusterNode, { userUuid, first }: World) =>
  actors.get(Sessions, userUuid).ask.openSocket({ gateway: id, sessions: [first.sessionUuid] });

const banFrom = ({ actors }: Pick<ClusterNode, 'actors'>, userUuid: string) =>
  actors.get(UserAdministration, userUuid).ask.operatorSetBan({ banned: true, reason: null, by: 'operator' });

/** Whatever the outcome: calls may be refused or come too late. */
const outcomeOf = (pending: Promise<unknown>) =>
  pending.then(
    (answer) => answer as Answer<GrantedSession>,
    () => undefined,
  );

async function nothingIsLeft(
  world: World,
  answers: readonly (Answer<unknown> | undefined)[],
): Promise<string[]> {
  const { cluster, nodes, userUuid } = world;
  const left: string[] = [];
  const handedOut = answers.filter((each) => each !== undefined && 'ok' in each && isIssued(each.ok));
  const sessions = [world.first, ...handedOut.map((each) => issuedBy(each as never))];
  for (const node of nodes) {
    const { ask } = node.actors.get(Sessions, userUuid);
    for (const { credentials, refreshSecret, sessionUuid } of sessions) {
      const listed = await cluster.until(ask.listSessions({ credentials }));
      if (!('refused' in listed) || listed.refused.tag !== 'invalid-auth') left.push(`${node.id}: a session`);
      const access = credentials;
      const refreshed = await cluster.until(
        ask.refresh({ access, refreshSecrets: [refreshSecret], apiVersion, device }),
      );
      if (!('refused' in refreshed)) left.push(`${node.id}: a refresh`);
      const { living } = await cluster.until(ask.openSocket({ gateway: node.id, sessions: [sessionUuid] }));
      if (living.length > 0) left.push(`${node.id}: a socket`);
    }
    const again = await cluster.until(login(node, `after the ban at ${node.id}`));
    if (!('refused' in again) || !again.refused.message.includes('suspended'))
      left.push(`${node.id}: a login`);
  }
  return left;
}

const isIssued = (ok: unknown): boolean => typeof ok === 'object' && ok !== null && 'secrets' in ok;

for (const afterMs of [0, 1, 5, 10, 20, 40]) {
  test(`a ban ${afterMs} ms into sign-ins, refreshes, syncs and sockets leaves none of them`, async (t) => {
    const world = await started();
    const { cluster, nodes, userUuid } = world;
    t.true('ok' in (await cluster.until(syncAt(nodes[0], world))));
    const busy = nodes.flatMap((node) => [
      outcomeOf(login(node, `during the ban at ${node.id}`)),
      outcomeOf(refreshAt(node, world)),
      outcomeOf(syncAt(node, world)),
      outcomeOf(socketAt(node, world)),
    ]);
    const ban = sleep(cluster.clock, afterMs).then(() => banFrom(nodes[1], userUuid));
    t.is((await cluster.until(ban)).outcome, 'set');
    t.deepEqual(await nothingIsLeft(world, await cluster.until(Promise.all(busy))), []);
  });
}

for (const what of ['answer', 'statement'] as const) {
  test(`a ban whose commit has lost its ${what} holds all the same, and once`, async (t) => {
    const world = await started();
    const { cluster, nodes, userUuid } = world;
    for (const node of nodes) loseOnce(node, 'commit', what);
    const busy = nodes.map((node) => outcomeOf(refreshAt(node, world)));
    // The operator learns of a statement that was certainly lost, and bans again.
    await cluster.until(outcomeOf(banFrom(nodes[0], userUuid)));
    t.regex((await cluster.until(banFrom(nodes[0], userUuid))).outcome, /^(set|unchanged)$/);
    t.deepEqual(await nothingIsLeft(world, await cluster.until(Promise.all(busy))), []);
    const { events } = await cluster.until(
      nodes[2].actors.get(UserAdministration, userUuid).ask.operatorAuditTrail({ before: 1e9, limit: 100 }),
    );
    t.is(events.filter(({ event, times }) => event === 'banned' && times === 1).length, 1);
  });
}

test('a ban outlives the node that made it', async (t) => {
  const world = await started();
  const { cluster, nodes, userUuid } = world;
  await cluster.until(banFrom(nodes[0], userUuid));
  const [gone, ...left] = nodes;
  cluster.crash(gone);
  await cluster.until(
    becomes(
      cluster,
      () => left.reduce((sum, { id }) => sum + cluster.held(id).length, 0) === cluster.shardCount,
    ),
  );
  const answers = await nothingIsLeft({ ...world, nodes: [left[0], left[1], left[1]] as never }, []);
  t.deepEqual(answers, []);
});

test('a ban while the password is being checked opens no session', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  server.hasher.meanwhile = () => banFrom(server.host, phone.account.userUuid);
  const answer = await signIn(server);
  t.deepEqual([answer.status, answer.body.error.message], [401, 'Your account has been suspended.']);
});

test('at least one of the administrators who ban each other in a circle at the same moment remains', async (t) => {
  const emails = ['one@example.org', 'two@example.org', 'three@example.org'];
  const server = await startServer(t, { accounts: { adminEmails: new Set(emails) } });
  const admins = await Promise.all(emails.map((email) => server.device(email)));
  const ask = server.transport.ask.bind(server.transport);
  const everybodyBans = latch();
  let banning = 0;
  server.transport.ask = async (call) => {
    if (call.command === 'operatorSetBan') {
      banning += 1;
      if (banning === admins.length) everybodyBans.open();
      await everybodyBans.promise;
    }
    return ask(call);
  };
  const bans = admins.map((admin, index) => {
    const next = admins[(index + 1) % admins.length]?.account.userUuid;
    return admin.call('PUT', `/v1/admin/users/${next}/ban-status`, { body: { banned: true } });
  });
  const statuses = (await Promise.all(bans)).map(({ status }) => status);
  const left = await Promise.all(admins.map(({ account }) => statusOf(server, account)));
  t.deepEqual([statuses, left], [Array(3).fill(409), Array(3).fill('200')]);
});

test('an administrator who bans several counts as banning until the last of them is answered', async (t) => {
  const emails = ['one@example.org', 'two@example.org'];
  const server = await startServer(t, { accounts: { adminEmails: new Set(emails) } });
  const [one, two, other] = await Promise.all(
    [...emails, 'three@example.org'].map((email) => server.device(email)),
  );
  if (one === undefined || two === undefined || other === undefined) throw new Error('somebody is missing');
  const ask = server.transport.ask.bind(server.transport);
  const isAsked = latch();
  const goesOn = latch();
  server.transport.ask = async (call) => {
    if (call.command === 'operatorSetBan' && call.address.id === two.account.userUuid) {
      isAsked.open();
      await goesOn.promise;
    }
    return ask(call);
  };
  const setBan = async (by: typeof one, whom: typeof one, banned: boolean) =>
    (await by.call('PUT', `/v1/admin/users/${whom.account.userUuid}/ban-status`, { body: { banned } }))
      .status;
  const slow = setBan(one, two, true);
  await isAsked.promise;
  t.deepEqual([await setBan(one, other, true), await setBan(one, other, false)], [200, 200]);
  t.is(await setBan(two, one, true), 409);
  goesOn.open();
  t.is(await slow, 200);
  t.is(await statusOf(server, one.account), '200');
});
