/** Promises 4 to 6 of the port: leases, incarnations, epochs, claims, and the fixed values of the cluster. */
import assert from 'node:assert/strict';
import type { NodeRow, Store } from '../../runtime/store/store.ts';
import { assertFails } from './actors.ts';
import type { Clause } from './subject.ts';

const leaseMs = 60_000;
/** A lease that has lapsed by the time it is given: no test waits. */
const lapsedMs = -1;

const node = (id: string, incarnation: string): NodeRow => ({
  id,
  incarnation,
  address: 'local',
  roles: 'all',
  version: '1',
  formats: '1',
});

async function incarnations(store: Store): Promise<Record<string, string | null>> {
  return Object.fromEntries((await store.nodes()).map(({ id, incarnation }) => [id, incarnation]));
}

export const ownershipClauses: readonly Clause[] = [
  {
    name: 'time is that of the database, in milliseconds',
    async check({ store, other }) {
      const before = await store.timeMs();
      assert.ok(Number.isSafeInteger(before) && before > 1_600_000_000_000);
      assert.ok((await other.timeMs()) >= before);
    },
  },
  {
    name: 'a registered incarnation renews its lease; another one cannot',
    async check({ store }) {
      await store.register(node('a', 'a1'), 1_000);
      assert.notEqual(await store.renew('a', 'a1', leaseMs), undefined);
      assert.equal(await store.renew('a', 'a2', leaseMs), undefined);
      assert.equal(await store.renew('b', 'a1', leaseMs), undefined);
      const [row] = await store.nodes();
      assert.equal(row?.incarnation, 'a1');
      assert.ok(row !== undefined && row.expiresInMs > 1_000 && row.expiresInMs <= leaseMs);
    },
  },
  {
    name: 'a new incarnation waits for the lease of its predecessor, and nothing is changed until then',
    async check({ store }) {
      assert.equal(await store.register(node('a', 'a1'), leaseMs), 0);
      const heldForMs = await store.register(node('a', 'a2'), leaseMs);
      assert.ok(heldForMs > leaseMs / 2 && heldForMs <= leaseMs, `${heldForMs}`);
      assert.notEqual(await store.renew('a', 'a1', lapsedMs), undefined);
      assert.equal(await store.register(node('a', 'a2'), leaseMs), 0);
      assert.equal(await store.renew('a', 'a1', leaseMs), undefined);
    },
  },
  {
    name: 'a registration whose answer was lost can be made again',
    async check({ store }) {
      assert.equal(await store.register(node('a', 'a1'), leaseMs), 0);
      assert.equal(await store.register(node('a', 'a1'), leaseMs), 0);
      await store.leave('a', 'a1');
      assert.equal(await store.register(node('a', 'a2'), leaseMs), 0);
    },
  },
  {
    name: 'a new incarnation replaces a dead predecessor at once, lease or not, and may claim what it held',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      const before = await store.claim('a', 'a1', [0, 1, 2]);
      await store.register(node('a', 'a2'), leaseMs, true);
      assert.equal(await store.renew('a', 'a1', leaseMs), undefined);
      const after = await store.claim('a', 'a2', [0, 1, 2]);
      assert.deepEqual(after.shards, [0, 1, 2]);
      assert.ok(after.epoch > before.epoch);
    },
  },
  {
    name: 'a registration that comes late changes nothing',
    async check({ store, registrationInFlight }) {
      const late = await registrationInFlight(node('a', 'a1'), leaseMs);
      await store.register(node('a', 'a2'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      await store.claim('a', 'a2', [0, 1]);
      await assertFails(late.finish(), 'rejected');
      assert.equal((await incarnations(store))['a'], 'a2');
      assert.equal(await store.renew('a', 'a1', leaseMs), undefined);
      assert.notEqual(await store.renew('a', 'a2', leaseMs), undefined);
      assert.deepEqual((await store.claim('b', 'b1', [0, 1, 2])).shards, [2]);
    },
  },
  {
    name: 'a registration comes late to a node that has left, too',
    async check({ store, registrationInFlight }) {
      const late = await registrationInFlight(node('a', 'a1'), leaseMs);
      await store.register(node('a', 'a2'), leaseMs);
      await store.leave('a', 'a2');
      await assertFails(late.finish(), 'rejected');
      assert.equal((await incarnations(store))['a'], null);
      await store.register(node('a', 'a3'), leaseMs);
      assert.equal((await incarnations(store))['a'], 'a3');
    },
  },
  {
    name: 'a shard of a live incarnation cannot be claimed by others',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      const held = await store.claim('a', 'a1', [3, 1]);
      assert.deepEqual(held.shards, [1, 3]);
      const rest = await store.claim('b', 'b1', [0, 1, 2, 3]);
      assert.deepEqual(rest.shards, [0, 2]);
      assert.ok(rest.epoch > held.epoch);
    },
  },
  {
    name: 'a claim whose answer was lost can be made again, under a greater epoch',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      const lost = await store.claim('a', 'a1', [1, 3]);
      const again = await store.claim('a', 'a1', [0, 1, 3]);
      assert.deepEqual(again.shards, [0, 1, 3]);
      assert.ok(again.epoch > lost.epoch);
    },
  },
  {
    name: 'only a claim of something uses up an epoch',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      const first = await store.claim('a', 'a1', [0]);
      assert.deepEqual((await store.claim('b', 'b1', [0])).shards, []);
      assert.deepEqual((await store.claim('a', 'dead', [5])).shards, []);
      assert.deepEqual((await store.claim('a', 'a1', [])).shards, []);
      const second = await store.claim('a', 'a1', [1]);
      assert.equal(second.epoch, first.epoch + 1);
    },
  },
  {
    name: 'a lapsed lease still holds its shards until it is expired, and may be renewed until then',
    async check({ store }) {
      await store.register(node('a', 'a1'), lapsedMs);
      await store.claim('a', 'a1', [0]);
      await store.register(node('b', 'b1'), leaseMs);
      assert.deepEqual((await store.claim('b', 'b1', [0])).shards, []);
      assert.notEqual(await store.renew('a', 'a1', lapsedMs), undefined);
      assert.deepEqual(await store.expireNodes(), ['a']);
      assert.deepEqual(await store.expireNodes(), []);
      assert.deepEqual(await incarnations(store), { a: null, b: 'b1' });
      assert.equal(await store.renew('a', 'a1', leaseMs), undefined);
      assert.deepEqual((await store.claim('a', 'a1', [1])).shards, []);
      assert.deepEqual((await store.claim('b', 'b1', [0])).shards, [0]);
    },
  },
  {
    name: 'a node that leaves gives up its shards, and only those of its own incarnation',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      await store.claim('a', 'a1', [0, 1]);
      await store.leave('a', 'other');
      assert.deepEqual(await incarnations(store), { a: 'a1', b: 'b1' });
      await store.leave('a', 'a1');
      assert.deepEqual(await incarnations(store), { a: null, b: 'b1' });
      assert.equal(await store.renew('a', 'a1', leaseMs), undefined);
      assert.deepEqual((await store.claim('b', 'b1', [0, 1])).shards, [0, 1]);
    },
  },
  {
    name: 'a claim that waits behind another takes only what that one left, under a greater epoch',
    async check({ store, claimInFlight, untilBlocked }) {
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      const flight = await claimInFlight('a', 'a1', [0, 1]);
      const claim = store.claim('b', 'b1', [0, 1, 2]);
      await untilBlocked(claim);
      await flight.finish();
      assert.deepEqual(await claim, { epoch: 2, shards: [2] });
    },
  },
  {
    name: 'a released shard can be claimed by others, and only its holder can release it',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      const { epoch } = await store.claim('a', 'a1', [0, 1, 2]);
      await store.release('b1', [{ shard: 0, epoch }]);
      await store.release('a1', [{ shard: 1, epoch }]);
      assert.deepEqual(await store.freeShards([0, 1, 2, 3]), [1, 3]);
      assert.deepEqual(await store.shardsOf('a1'), [
        { shard: 0, epoch },
        { shard: 2, epoch },
      ]);
      assert.deepEqual((await store.claim('b', 'b1', [0, 1, 2])).shards, [1]);
      assert.deepEqual(await store.shards(), [
        { shard: 0, node: 'a', incarnation: 'a1', epoch },
        { shard: 1, node: 'b', incarnation: 'b1', epoch: epoch + 1 },
        { shard: 2, node: 'a', incarnation: 'a1', epoch },
      ]);
    },
  },
  {
    name: 'a release that comes late frees nothing that was claimed again',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      const before = await store.claim('a', 'a1', [0]);
      const after = await store.claim('a', 'a1', [0]);
      await store.release('a1', [{ shard: 0, epoch: before.epoch }]);
      assert.deepEqual(await store.freeShards([0]), []);
      await store.release('a1', [{ shard: 0, epoch: after.epoch }]);
      assert.deepEqual(await store.freeShards([0]), [0]);
    },
  },
  {
    name: 'a node drains until that is undone or it starts again; only live nodes can be drained',
    async check({ store }) {
      const draining = async () => (await store.nodes()).map((row) => row.draining);
      await store.register(node('a', 'a1'), leaseMs);
      assert.equal(await store.setDraining('a', true), true);
      assert.deepEqual(await draining(), [true]);
      assert.notEqual(await store.renew('a', 'a1', leaseMs), undefined);
      assert.deepEqual(await draining(), [true]);
      assert.equal(await store.setDraining('a', false), true);
      assert.deepEqual(await draining(), [false]);
      // A late statement of a former incarnation does not drain its successor.
      assert.equal(await store.setDraining('a', true, 'a0'), false);
      assert.deepEqual(await draining(), [false]);
      assert.equal(await store.setDraining('a', true, 'a1'), true);
      assert.deepEqual(await draining(), [true]);
      await store.leave('a', 'a1');
      assert.equal(await store.setDraining('a', true), false);
      assert.equal(await store.setDraining('b', true), false);
      await store.register(node('a', 'a2'), leaseMs);
      assert.deepEqual(await draining(), [false]);
    },
  },
  {
    name: 'a node that has no lease goes after a while, and may come back',
    async check({ store }) {
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), lapsedMs);
      await store.claim('b', 'b1', [0]);
      await store.removeNodes(Number.MAX_SAFE_INTEGER);
      assert.deepEqual(await incarnations(store), { a: 'a1', b: 'b1' });
      await store.leave('b', 'b1');
      await store.removeNodes((await store.timeMs()) - 10_000);
      assert.deepEqual(await incarnations(store), { a: 'a1', b: null });
      await store.removeNodes(Number.MAX_SAFE_INTEGER);
      assert.deepEqual(await incarnations(store), { a: 'a1' });
      assert.deepEqual((await store.claim('a', 'a1', [0])).shards, [0]);
      assert.equal(await store.register(node('b', 'b2'), leaseMs), 0);
    },
  },
  {
    name: 'an incarnation says whether it can be reached, for itself alone, and a new one can be',
    async check({ store }) {
      const connected = async () => (await store.nodes()).map((row) => row.connected);
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      await store.setConnected('a', 'other', false);
      assert.deepEqual(await connected(), [true, true]);
      await store.setConnected('a', 'a1', false);
      assert.deepEqual(await connected(), [false, true]);
      await store.setConnected('a', 'a1', true);
      assert.deepEqual(await connected(), [true, true]);
      await store.setConnected('a', 'a1', false);
      await store.register(node('a', 'a2'), leaseMs, true);
      assert.deepEqual(await connected(), [true, true]);
    },
  },
  {
    name: 'two claimers at once never hold one shard, nor one epoch',
    async check({ store, other }) {
      await store.register(node('a', 'a1'), leaseMs);
      await store.register(node('b', 'b1'), leaseMs);
      const all = [0, 1, 2, 3, 4, 5, 6, 7];
      const claims = await Promise.all([store.claim('a', 'a1', all), other.claim('b', 'b1', all)]);
      const claimed = claims.flatMap((claim) => claim.shards);
      assert.deepEqual([...claimed].sort(), all);
      assert.notEqual(claims[0].epoch, claims[1].epoch);
    },
  },
  {
    name: 'a fixed setting is that of the first process',
    async check({ store, other }) {
      const [first, second] = await Promise.all([
        store.fixedSetting('generation', 'one'),
        other.fixedSetting('generation', 'two'),
      ]);
      assert.equal(first, second);
      assert.ok(first === 'one' || first === 'two');
      assert.equal(await store.fixedSetting('generation', 'three'), first);
      await store.replaceSetting('generation', 'four');
      assert.equal(await store.fixedSetting('generation', 'five'), 'four');
      assert.equal(await store.fixedSetting('another', 'four'), 'four');
    },
  },
];
