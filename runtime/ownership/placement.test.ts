import test from 'ava';
import fc from 'fast-check';
import { placementOf, shardCountFor, shardsOfHostMin, takesAny } from './placement.ts';

const hostIds = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });

test('every shard has one host, whoever computes it and in whatever order the hosts are listed', (t) => {
  fc.assert(
    fc.property(hostIds, fc.constantFrom(1, 16, 256), (hosts, shardCount) => {
      const placement = placementOf(hosts, shardCount);
      t.is(placement.length, shardCount);
      t.true(placement.every((host) => host !== undefined && hosts.includes(host)));
      t.deepEqual(placementOf([...hosts].reverse(), shardCount), placement);
    }),
  );
});

test('a host that joins moves only shards to itself, one that leaves only its own', (t) => {
  fc.assert(
    fc.property(hostIds, (hosts) => {
      const [joining, ...others] = hosts;
      const after = placementOf(hosts, 256);
      placementOf(others, 256).forEach((before, shard) => {
        if (after[shard] !== joining) t.is(after[shard], before);
      });
    }),
  );
});

test('a host that joins takes a shard of another one if it may, and says so of no other', (t) => {
  fc.assert(
    fc.property(hostIds, ([joining = '', ...others]) => {
      const before = placementOf(others, 64);
      const after = placementOf([joining, ...others], 64);
      for (const host of others) {
        const shards = before.flatMap((each, shard) => (each === host ? [shard] : []));
        const loses = shards.some((shard) => after[shard] === joining);
        t.is(takesAny(joining, host, shards), loses);
      }
    }),
  );
});

test('hosts get about equal shares, even where their names are alike', (t) => {
  for (const count of [2, 3, 10]) {
    const hosts = Array.from({ length: count }, (_, index) => `host-${index}`);
    const placement = placementOf(hosts, 4_096);
    const fair = 4_096 / count;
    for (const host of hosts) {
      const share = placement.filter((each) => each === host).length;
      t.true(Math.abs(share - fair) < fair * 0.2, `${host} has ${share} of ${fair}`);
    }
  }
});

test('a new database has a power of two of shards, and enough for each host', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_310 }), (hosts) => {
      const shards = shardCountFor(hosts);
      t.true(Number.isInteger(Math.log2(shards)));
      t.true(shards >= Math.max(1_024, hosts * shardsOfHostMin) && shards <= 65_536);
    }),
  );
});

test('without hosts nothing has a host', (t) => {
  t.deepEqual(placementOf([], 2), [undefined, undefined]);
});
