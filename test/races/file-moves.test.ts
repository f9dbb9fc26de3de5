/**
 * A file on its way between shards that change hands on three nodes, with commits that arrive long after everybody
 * has stopped waiting.
 */
import test, { type ExecutionContext } from 'ava';
import { blobName } from '../../actors/files/layout.ts';
import { file as fileTable } from '../../actors/files/tables.ts';
import type { SignInReply } from '../../actors/identity/session.ts';
import type { ValetClaims } from '../../actors/identity/valet-tokens.ts';
import type { Answer } from '../../actors/reply.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { Files } from '../../actors/user/files/contract.ts';
import { Vaults } from '../../actors/user/vaults/contract.ts';
import { shardOf } from '../../runtime/address.ts';
import { sleep } from '../../runtime/clock.ts';
import { content, write } from '../files/blobs.ts';
import { alice } from '../kit/account.ts';
import { type ClusterNode, TestCluster } from '../kit/cluster.ts';
import { createMemoryFileStore } from '../kit/file-store.ts';
import { ModelStore } from '../kit/model-store/model-store.ts';
import { domainOf, sessionTokens } from '../kit/server.ts';

const device = { userAgent: 'a test', ipAddress: '203.0.113.7', snjsVersion: null, applicationVersion: null };
const userUuid = '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11';
const remoteIdentifier = '00000000-0000-4000-8000-0000000000f1';
const longerThanAnyCallMs = 40_000;
const untilFinalizedMs = 60_000;

function okOf<Ok>(answer: Answer<Ok>): Ok {
  if (!('ok' in answer)) throw new Error(answer.refused.message);
  return answer.ok;
}

function credentialsOf(answer: Answer<SignInReply>) {
  const signedIn = okOf(answer);
  if (!('session' in signedIn)) throw new Error('this is no session');
  const credentials = sessionTokens.verify(signedIn.session.access_token, []);
  if (credentials === undefined) throw new Error('the token is not one');
  return credentials;
}

/** An account with a file and a vault, whose shards two nodes have. */
async function started() {
  const fileStore = createMemoryFileStore();
  const cluster = new TestCluster({ ...domainOf({ fileStore }), leaseMs: 3_000 });
  const nodes = await cluster.joinAll(['a', 'b', 'c']);
  const { ask } = cluster.actors.get(Files, userUuid);
  const credentials = credentialsOf(
    await cluster.until(
      cluster.actors.get(Account, userUuid).ask.register({
        email: alice.email,
        workspace: 'default',
        password: 'the password',
        device,
        apiVersion: '20200115',
        ephemeral: false,
        keyParams: { pw_nonce: 'nonce', version: '004' },
      }),
    ),
  );
  const home = nodeOf(cluster, nodes, 'user', userUuid);
  let vault = '';
  do {
    vault = okOf(await cluster.until(cluster.actors.get(Vaults, userUuid).ask.createVault({ credentials })))
      .sharedVault.uuid;
  } while (nodeOf(cluster, nodes, 'vault', vault) === home);
  let tokens = 0;
  const claimsOf = (more: Partial<ValetClaims>): ValetClaims => {
    tokens += 1;
    const nowMs = cluster.clock.nowMs();
    return {
      id: `token ${tokens}`,
      userUuid,
      sessionUuid: credentials.identifier,
      operation: 'move',
      remoteIdentifier,
      unencryptedBytes: 100,
      issuedMs: nowMs,
      endsMs: nowMs + 3_600_000,
      ...more,
    };
  };
  const claims = claimsOf({ operation: 'write' });
  const uploadUuid = cluster.random.uuid();
  const chunk = { claims, uploadUuid, nonce: '0123456789abcdef' };
  okOf(await cluster.until(ask.openUpload({ claims, uploadUuid })));
  okOf(await cluster.until(ask.beginChunk({ claims, number: 1, bytes: 100, nonce: chunk.nonce })));
  const blob = blobName({ storedUnder: userUuid, uploadUuid }, { number: 1, nonce: chunk.nonce });
  await write(fileStore, blob, content(100));
  okOf(await cluster.until(ask.finishChunk(chunk)));
  okOf(await cluster.until(ask.closeUpload({ claims })));
  await cluster.clock.advance(5_000);
  const move = (type: 'user-to-shared-vault' | 'shared-vault-to-user') => {
    const request = claimsOf({ sharedVaultUuid: vault, move: { type } });
    return ask.moveFile({ claims: request });
  };
  const remove = () => ask.deleteFile({ claims: claimsOf({ operation: 'delete' }) });
  return { cluster, nodes, vault, remove, home, away: nodeOf(cluster, nodes, 'vault', vault), move };
}

type World = Awaited<ReturnType<typeof started>>;

function nodeOf(cluster: TestCluster, nodes: readonly ClusterNode[], kind: string, id: string): ClusterNode {
  const shard = shardOf({ kind, id }, cluster.shardCount);
  const node = nodes.find((each) => cluster.held(each.id).includes(shard));
  if (node === undefined) throw new Error(`nobody has ${kind} ${id}`);
  return node;
}

async function ownersOf({ cluster, vault }: World): Promise<readonly string[]> {
  const store = new ModelStore(cluster.database, async (_method, apply) => apply());
  const all = { after: 0, through: Number.MAX_SAFE_INTEGER, limit: 10 };
  const found = await store.read(
    [userUuid, vault].map((owner) => ({ read: 'range' as const, table: fileTable, owner, ...all })),
  );
  return found.flatMap(({ rows }) => rows.map((row) => String(row['owner_uuid'])));
}

/** Interferes with the nth commit from now on, of any node. Returns whether it came. */
function meddle(
  { nodes }: World,
  number: number,
  how: (apply: () => unknown) => Promise<void>,
): () => boolean {
  let commits = 0;
  for (const node of nodes) {
    node.schedule = async (method, apply) => {
      if (method !== 'commit') return apply();
      commits += 1;
      if (commits === number) await how(apply);
      return apply();
    };
  }
  return () => commits >= number;
}

/** It is in one place, and moves to the other and back: nobody takes it for one that is on its way. */
async function isFree(t: ExecutionContext, world: World, step: string): Promise<void> {
  const { cluster, vault, move } = world;
  await cluster.clock.advance(untilFinalizedMs);
  const [owner, ...others] = await ownersOf(world);
  t.deepEqual(others, [], step);
  if (owner === userUuid) t.deepEqual(await cluster.until(move('user-to-shared-vault')), { ok: {} }, step);
  await cluster.clock.advance(5_000);
  t.deepEqual(await ownersOf(world), [vault], step);
  t.deepEqual(await cluster.until(move('shared-vault-to-user')), { ok: {} }, step);
  await cluster.clock.advance(5_000);
  t.deepEqual(await ownersOf(world), [userUuid], step);
}

for (const side of ['source', 'target'] as const) {
  test(`a file that moves is in one place when the shard of its ${side} changes hands at any commit`, async (t) => {
    t.timeout(240_000);
    for (let number = 1; ; number += 1) {
      const world = await started();
      const { cluster, home, away, move } = world;
      const leaving = side === 'source' ? home : away;
      let drained: Promise<void> | undefined;
      const hasCome = meddle(world, number, async () => {
        drained = leaving.node.drain(10_000);
      });
      await cluster.until(move('user-to-shared-vault').catch((error: unknown) => error));
      const wasDrained = hasCome();
      if (drained !== undefined) await cluster.until(drained);
      await isFree(t, world, `commit ${number}`);
      if (wasDrained) continue;
      t.true(number > 3, 'each step of the move was met');
      return;
    }
  });
}

test('a file that moves is in one place when any commit of that comes long after everybody has stopped waiting', async (t) => {
  t.timeout(240_000);
  for (let number = 1; ; number += 1) {
    const world = await started();
    const { cluster, move } = world;
    const hasCome = meddle(world, number, () => sleep(cluster.clock, longerThanAnyCallMs));
    await cluster.until(move('user-to-shared-vault').catch((error: unknown) => error));
    const wasLate = hasCome();
    await isFree(t, world, `commit ${number}`);
    if (wasLate) continue;
    t.true(number > 3, 'each step of the move was met');
    return;
  }
});

test('a file whose move was given up is deleted only once its target can commit no row of it any more', async (t) => {
  t.timeout(240_000);
  const world = await started();
  const { cluster, move, remove } = world;
  // The target's commit, after the source's.
  const hasCome = meddle(world, 2, () => sleep(cluster.clock, longerThanAnyCallMs));
  await cluster.until(move('user-to-shared-vault').catch((error: unknown) => error));
  t.true(hasCome());
  let refusals = 0;
  for (let seconds = 0; seconds < 120; seconds += 1) {
    const answer = await cluster.until(remove());
    if ('ok' in answer) break;
    t.is(answer.refused.reason, 'unavailable');
    refusals += 1;
    await cluster.clock.advance(1_000);
  }
  await cluster.clock.advance(untilFinalizedMs);
  t.true(refusals > 5, 'for as long as the call to apply was under way');
  t.true(refusals < 60, 'and not much longer');
  t.deepEqual(await ownersOf(world), [], 'a deleted file is nowhere');
});
