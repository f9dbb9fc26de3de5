/** Deletions of accounts on three nodes, each killed at another step: nothing of the account ever remains. */
import test from 'ava';
import type { ClientItem } from '../../actors/collection/item-fields.ts';
import type { SignInReply } from '../../actors/identity/session.ts';
import type { Answer } from '../../actors/reply.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { Bridges } from '../../actors/user/bridge/contract.ts';
import { Factors } from '../../actors/user/factors/contract.ts';
import { Items } from '../../actors/user/items/contract.ts';
import { purgeBatchItems } from '../../actors/user/items/part.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { StoreError } from '../../runtime/store/store.ts';
import { alice } from '../kit/account.ts';
import { type ClusterNode, TestCluster } from '../kit/cluster.ts';
import { note } from '../kit/items.ts';
import { domainOf, sessionTokens } from '../kit/server.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const device = { userAgent: 'a test', ipAddress: '203.0.113.7', snjsVersion: null, applicationVersion: null };
const userUuid = '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11';
const password = 'the password';
const owned = ['account', 'item', 'revision', 'audit_page'];
/** More than a purge takes in one commit. */
const itemCount = 2 * purgeBatchItems + 1;

const register = ({ cluster }: World, uuid: string) =>
  cluster.until(
    cluster.actors.get(Account, uuid).ask.register({
      email: alice.email,
      workspace: 'default',
      password,
      device,
      apiVersion: '20200115',
      ephemeral: false,
      keyParams: { pw_nonce: 'nonce', version: '004' },
    }),
  );

function credentialsOf(answer: Answer<SignInReply>) {
  if (!('ok' in answer)) throw new Error(answer.refused.message);
  if (!('session' in answer.ok)) throw new Error('this is no session');
  const credentials = sessionTokens.verify(answer.ok.session.access_token, []);
  if (credentials === undefined) throw new Error('the token is not one');
  return credentials;
}

/** An account with items, full pages of its trail, and something of every other kind. */
async function started() {
  const cluster = new TestCluster({ ...domainOf({}), leaseMs: 3_000 });
  const nodes = await cluster.joinAll(['a', 'b', 'c']);
  const world = { cluster, nodes };
  const credentials = credentialsOf(await register(world, userUuid));
  const { ask } = cluster.actors.get(Factors, userUuid);
  const save = async (items: readonly ClientItem[]) => {
    const { ask } = cluster.actors.get(Items, userUuid);
    const reply = await cluster.until(ask.sync({ credentials, items, api: '20240226', snjs_version: null }));
    if (!('ok' in reply)) throw new Error('not saved');
    return reply.ok.saved_items;
  };
  const saved = await save(Array.from({ length: itemCount }, () => note({ uuid: cluster.random.uuid() })));
  // The history gets what is overwritten.
  await save(saved.map(({ uuid, updated_at_timestamp }) => note({ uuid, updated_at_timestamp })));
  for (let made = 0; made < 10; made += 1) {
    await cluster.until(ask.makeAppPassword({ credentials, label: `${made}` }));
  }
  await cluster.until(ask.trustDevice({ credentials }));
  const keys = { wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  await cluster.until(
    cluster.actors
      .get(Bridges, userUuid)
      .ask.makeBridgeToken({ credentials, label: 'b', scope: 'read', ...keys }),
  );
  await cluster.clock.advance(10_000);
  return { ...world, credentials };
}

interface World {
  readonly cluster: TestCluster;
  readonly nodes: readonly ClusterNode[];
}

/** Kills the node that sends the nth commit from now on, before or after its effect. Returns whether it came. */
function killAt({ cluster, nodes }: World, number: number, when: 'before' | 'after') {
  let commits = 0;
  for (const node of nodes) {
    node.schedule = async (method, apply) => {
      if (method === 'commit') commits += 1;
      if (method !== 'commit' || commits !== number) return apply();
      if (when === 'after') apply();
      cluster.crash(node);
      throw new StoreError('unknown', 'killed by the test');
    };
  }
  return () => commits >= number;
}

/** Like a client: until it learns of the end. */
async function deleteForSure({ cluster, credentials }: Awaited<ReturnType<typeof started>>): Promise<void> {
  for (;;) {
    const pending = cluster.actors
      .get(Account, userUuid)
      .ask.deleteAccount({ credentials, userUuid, password });
    const answer = await cluster.until(pending.catch((error: unknown) => error));
    if (answer instanceof NotFoundError) return;
    if (answer instanceof Error) continue;
    if ('ok' in (answer as object)) return;
    throw new Error(JSON.stringify(answer));
  }
}

const leftOf = ({ cluster }: World, tables: readonly string[]) =>
  tables.filter((table) => (cluster.database.sizes.get(table) ?? 0) > 0);

for (const when of ['before', 'after'] as const) {
  test(`a deletion killed ${when} any of its commits ends all the same, and leaves nothing`, async (t) => {
    t.timeout(120_000);
    for (let number = 1; ; number += 1) {
      const world = await started();
      t.deepEqual(leftOf(world, owned), owned);
      const wasKilled = killAt(world, number, when);
      await deleteForSure(world);
      await world.cluster.clock.advance(30_000);
      const step = `commit ${number}`;
      t.deepEqual(leftOf(world, owned), [], step);
      const free = await register(world, world.cluster.random.uuid());
      t.true('ok' in free, step);
      if (!wasKilled()) {
        t.true(number > 4, 'the deletion and its purges were each killed');
        return;
      }
    }
  });
}

test('days after a deletion not a row tells that there was an account', async (t) => {
  const cluster = new TestCluster({ ...domainOf({}), leaseMs: hourMs });
  const nodes = await cluster.joinAll(['a']);
  const world = { cluster, nodes };
  const credentials = credentialsOf(await register(world, userUuid));
  const label = 'mail';
  await cluster.until(cluster.actors.get(Factors, userUuid).ask.makeAppPassword({ credentials, label }));
  await cluster.until(
    cluster.actors.get(Account, userUuid).ask.deleteAccount({ credentials, userUuid, password }),
  );
  for (let hours = 0; hours < 72; hours += 1) {
    await cluster.clock.leap(hourMs - minuteMs);
    await cluster.clock.advance(minuteMs);
  }
  t.deepEqual(leftOf(world, [...owned, 'actor', 'slice', 'timer', 'outbox', 'call']), []);
});
