/** Tokens of accounts of protocol 001 to 003 on several nodes, while the credentials to which they are bound change. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { SignInReply } from '../../actors/identity/session.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { type Answer, isRefused } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { shardOf } from '../../runtime/address.ts';
import { sleep } from '../../runtime/clock.ts';
import { alice, challengeOf, headerSessions, protocol003 } from '../kit/account.ts';
import { type ClusterNode, TestCluster } from '../kit/cluster.ts';
import { domainOf, sessionTokens, signinKeys } from '../kit/server.ts';

const address = { email: alice.email, workspace: '' };
const device = { ipAddress: null, userAgent: null, snjsVersion: null, applicationVersion: null };
const opening = { ...address, apiVersion: headerSessions, ephemeral: false, device };
const newPassword = 'd'.repeat(64);
const longMs = 120_000;

/** An account of 003 at the first of two nodes, and its first token. */
async function openWorld() {
  const cluster = new TestCluster(domainOf({ accounts: { endToEndTesting: true } }));
  const [home, other] = await cluster.joinAll(['a', 'b']);
  let userUuid = randomUUID();
  while (!home.transport.isRouted(shardOf({ kind: 'user', id: userUuid }, cluster.shardCount))) {
    userUuid = randomUUID();
  }
  const at = (node: ClusterNode) => node.actors.get(Account, userUuid).ask;
  const { password, pw_nonce } = alice;
  const keyParams = { ...protocol003, pw_nonce };
  const registered = await cluster.until(at(home).register({ ...opening, password, keyParams }));

  const isIn = async (node: ClusterNode, credentials: Credentials): Promise<boolean> =>
    !isRefused(
      await node.actors.get(Sessions, userUuid).ask.validateSession({ credentials }, { deadlineMs: longMs }),
    );

  const upgrade = (node: ClusterNode, credentials: Credentials, callId: string) =>
    at(node).changeCredentials(
      {
        credentials,
        userUuid,
        currentPassword: password,
        newPassword,
        device,
        keyParams: { pw_nonce: 'e'.repeat(64), version: '004' },
        apiVersion: headerSessions,
      },
      { callId, deadlineMs: longMs },
    );

  async function signIn(node: ClusterNode): Promise<Answer<SignInReply>> {
    const { ask } = node.actors.get(Signin, signinKeys.actorId(address));
    await ask.loginParams({ ...address, codeChallenge: challengeOf('verifier'), device });
    return ask.login({ ...opening, password, codeVerifier: 'verifier' });
  }

  return { cluster, home, other, token: credentialsOf(registered), isIn, upgrade, signIn };
}

/** @throws Error if the answer is a refusal */
function credentialsOf(answer: Answer<SignInReply>): Credentials {
  if (isRefused(answer)) throw new Error(answer.refused.message);
  const { ok } = answer;
  const credentials = sessionTokens.verify('token' in ok ? ok.token : ok.session.access_token);
  if (credentials === undefined) throw new Error('not a token');
  return credentials;
}

test('a token in use at another node is good until the upgrade is answered, and never after', async (t) => {
  const { cluster, home, other, token, isIn, upgrade } = await openWorld();
  const before = await cluster.until(Promise.all([isIn(home, token), isIn(other, token)]));
  t.deepEqual(before, [true, true]);
  let isAnswered = false;
  const late: boolean[] = [];
  let used = 0;
  const use = async (node: ClusterNode): Promise<void> => {
    const wasAnswered = isAnswered;
    const passed = await isIn(node, token);
    used += 1;
    if (wasAnswered) late.push(passed);
    await sleep(cluster.clock, 5);
    if (late.length < 20) await use(node);
  };
  const using = [home, other, other].map(use);
  const answer = await cluster.until(upgrade(home, token, 'upgrade'));
  isAnswered = true;
  await cluster.until(Promise.all(using));
  t.true(used > late.length);
  t.true(late.length >= 20);
  t.true(late.every((passed) => !passed));
  t.true(await cluster.until(isIn(other, credentialsOf(answer))));
});

test('a sign-in at another node during the upgrade leaves no token behind', async (t) => {
  let made = 0;
  let refused = 0;
  for (let delayMs = 0; delayMs <= 60; delayMs += 5) {
    const { cluster, home, other, token, isIn, upgrade, signIn } = await openWorld();
    const signingIn = signIn(other);
    await cluster.clock.advance(delayMs);
    const [signedIn, answer] = await cluster.until(Promise.all([signingIn, upgrade(home, token, 'upgrade')]));
    t.true(await cluster.until(isIn(other, credentialsOf(answer))));
    if (isRefused(signedIn)) {
      refused += 1;
      continue;
    }
    made += 1;
    t.true('token' in signedIn.ok);
    t.false(await cluster.until(isIn(home, credentialsOf(signedIn))), `${delayMs} ms`);
  }
  t.true(made > 0);
  t.true(refused > 0);
});

for (const isWritten of [false, true]) {
  const when = isWritten ? 'after' : 'before';
  test(`an upgrade whose node dies ${when} any of its commits is done once, and ends the token`, async (t) => {
    let crashes = 0;
    for (let nth = 1; ; nth += 1) {
      const { cluster, home, other, token, isIn, upgrade } = await openWorld();
      let commits = 0;
      let hasCrashed = false;
      home.schedule = async (method, apply) => {
        if (method === 'commit') commits += 1;
        if (method !== 'commit' || commits !== nth || hasCrashed) return apply();
        hasCrashed = true;
        if (isWritten) apply();
        cluster.crash(home);
        return new Promise(() => {});
      };
      const answer = await cluster.until(upgrade(other, token, 'upgrade'));
      home.schedule = async (_method, apply) => apply();
      const session = credentialsOf(answer);
      t.true('ok' in answer && 'session' in answer.ok);
      t.false(await cluster.until(isIn(other, token)), `commit ${nth}`);
      t.true(await cluster.until(isIn(other, session)), `commit ${nth}`);
      const repeated = credentialsOf(await cluster.until(upgrade(other, token, 'upgrade')));
      t.deepEqual(repeated, session);
      if (!hasCrashed) break;
      crashes += 1;
    }
    t.true(crashes >= 1);
  });
}
