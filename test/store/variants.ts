/** Wrong stores, each with one mistake that looks harmless, and the clause of the contract that must catch it. */
import pg from 'pg';
import type { Statement } from '../../runtime/store/postgres/sql.ts';
import { type StoreSql, storeSql } from '../../runtime/store/postgres/store.ts';
import type { Commit, SliceRow, Store, StoreRead } from '../../runtime/store/store.ts';
import { ModelDatabase } from '../kit/model-store/model-store.ts';
import type { PostgresVariant } from './postgres-subject.ts';

export interface WrongVariant extends PostgresVariant {
  readonly name: string;
  readonly caughtBy: string;
}

type Rewrite = (text: string) => string;

/** A statement with other words in one place. */
const reworded = ({ text, values }: Statement, from: string | RegExp, to: string): Statement => ({
  text: text.replace(from, to),
  values,
});

/** Both statements of a batch, rewritten. A rewrite that changes nothing would prove nothing. */
function rewrittenCommit(rewrite: Rewrite): StoreSql {
  const apply = (statement: Statement): Statement => ({ ...statement, text: rewrite(statement.text) });
  return {
    ...storeSql,
    batchCommit(commits: readonly Commit[]) {
      const { first, second } = storeSql.batchCommit(commits);
      return {
        first: apply(first),
        second: second === undefined ? undefined : (passed: readonly number[]) => apply(second(passed)),
      };
    },
  };
}

function rewrittenCrossOwnerRead(from: string | RegExp, to: string): StoreSql {
  return {
    ...storeSql,
    planRead: (read) => {
      const { statement, finish } = storeSql.planRead(read);
      return { statement: read.read === 'crossOwner' ? reworded(statement, from, to) : statement, finish };
    },
  };
}

/** Every put and removal of a batch in one statement, as if a table could be changed in two places at once. */
const oneStatement: StoreSql['batchCommit'] = (commits) => {
  const { first, second } = storeSql.batchCommit(commits);
  if (second === undefined) return { first, second };
  const { text, values } = second([]);
  const puts = text.slice(text.indexOf('),\n') + 3, text.lastIndexOf('\nSELECT'));
  const offset = first.values.length - 1;
  const shifted = puts.replaceAll(/\$(\d+)/g, (_, index) => `$${Number(index) + offset}`);
  const end = first.text.lastIndexOf('\nSELECT');
  return {
    first: {
      text: `${first.text.slice(0, end)},\n${shifted}${first.text.slice(end)}`,
      values: [...first.values, ...values.slice(1)],
    },
    second: undefined,
  };
};

/** A cross-owner read whose memberships are looked at before two more commits, and whose rows after them. */
function readingInTwo(store: Store): Store {
  let membershipsRead: Promise<unknown> = Promise.resolve();
  let committed = 0;
  const waiting: (() => void)[] = [];
  const twoMore = () => {
    const until = committed + 2;
    return new Promise<void>((resolve) => waiting.push(() => committed >= until && resolve()));
  };
  return new Proxy(store, {
    get(target, property) {
      if (property === 'commit')
        return async (commits: readonly Commit[]) => {
          await membershipsRead;
          const passed = await target.commit(commits);
          committed += 1;
          for (const check of waiting) check();
          return passed;
        };
      if (property === 'read')
        return async (reads: readonly StoreRead[]) => {
          const [read] = reads;
          if (read?.read !== 'crossOwner') return target.read(reads);
          const later = twoMore();
          const membershipRows = target.read(reads);
          membershipsRead = membershipRows;
          const authorized = (await membershipRows)[0]?.authorized?.map(({ owner }) => owner) ?? [];
          await later;
          const ranges = authorized.map((owner): StoreRead => {
            const { table, limit } = read;
            return { read: 'range', table, owner, after: 0, through: 1_000, limit };
          });
          const answers = await target.read(ranges);
          const rows = answers.flatMap((answer) => answer.rows);
          return [
            { rows, complete: true, authorized: authorized.map((owner) => ({ owner, complete: true })) },
          ];
        };
      const value = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** An activation that reads the slices in the same statement, and so from the snapshot taken before it waited. */
function loadingActivation(store: Store, connection: pg.ClientConfig): Store {
  const loaded = new Map<string, readonly SliceRow[]>();
  return new Proxy(store, {
    get(target, property) {
      if (property === 'slices') return async ({ id }: { id: string }) => loaded.get(id) ?? [];
      if (property !== 'activate') {
        const value = Reflect.get(target, property);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (address: { kind: string; id: string }, shard: number, epoch: number, create: boolean) => {
        if (create) return target.activate(address, shard, epoch, create);
        const client = new pg.Client(connection);
        await client.connect();
        const { rows } = await client.query(
          `WITH active AS (UPDATE actor SET epoch = $3, version = version + 1
             WHERE kind = $1 AND id = $2 AND epoch <= $3 RETURNING epoch, version, commit_id)
           SELECT active.epoch::float8, active.version::float8, active.commit_id, slice.slice, slice.data
           FROM active LEFT JOIN slice ON slice.kind = $1 AND slice.id = $2`,
          [address.kind, address.id, epoch],
        );
        await client.end();
        const [first] = rows;
        if (first === undefined) return { outcome: 'fenced' };
        loaded.set(
          address.id,
          rows.filter((row) => row.slice !== null),
        );
        return {
          outcome: 'active',
          row: { epoch: first.epoch, version: first.version, commitId: first.commit_id },
        };
      };
    },
  });
}

export const wrongVariants: readonly WrongVariant[] = [
  {
    name: 'the fence ignores the version',
    caughtBy: 'a commit that waits behind the barrier never applies',
    sql: rewrittenCommit((text) => text.replace(' AND actor.version = w.version', '')),
  },
  {
    name: 'the fence ignores the epoch and trusts the version',
    caughtBy: 'members of a batch pass or fail alone',
    sql: rewrittenCommit((text) =>
      text.replace(
        ' AND actor.epoch = w.epoch AND actor.version = w.version',
        ' AND actor.version >= w.version',
      ),
    ),
  },
  {
    name: 'the fence is a SELECT beside the UPDATE',
    caughtBy: 'a commit that waits behind the barrier never applies',
    sql: rewrittenCommit((text) =>
      text.replace('WITH fence AS (', 'WITH bump AS (').replace(
        /UPDATE actor SET .*\n {2}FROM (unnest\(.*\) AS w\(.*\))\n {2}WHERE (.*)\n {2}RETURNING w.member\)/,
        `UPDATE actor SET version = actor.version + 1, commit_id = w.commit_id FROM $1
             WHERE actor.kind = w.kind AND actor.id = w.id AND actor.version = w.version),
           fence AS (SELECT w.member FROM actor JOIN $1 ON $2)`,
      ),
    ),
  },
  {
    name: 'a taken key is skipped instead of rejected',
    caughtBy: 'a unique key taken by another actor rejects the whole batch; sent one by one the others pass',
    sql: rewrittenCommit((text) =>
      text.replaceAll(/ON CONFLICT \([^)]*\) DO UPDATE SET [^)]*\)/g, 'ON CONFLICT DO NOTHING)'),
    ),
  },
  {
    name: 'an upsert by the key alone overwrites a row born otherwise',
    caughtBy: 'an insert whose key exists under another generation is rejected, whatever it says of itself',
    sql: rewrittenCommit((text) =>
      text.replace('("owner_uuid", "number", "born") DO', '("owner_uuid", "number") DO'),
    ),
  },
  {
    name: 'one statement removes from a table and puts into it',
    caughtBy: 'one commit may remove and insert in one table, and hand a unique key over',
    sql: { ...storeSql, batchCommit: oneStatement },
  },
  {
    name: 'members that failed the fence take part in the second statement',
    caughtBy: 'a fenced member of a batch that puts and removes in one table changes nothing',
    sql: {
      ...storeSql,
      batchCommit(commits: readonly Commit[]) {
        const { first, second } = storeSql.batchCommit(commits);
        return { first, second: second && (() => second(commits.map((_, index) => index))) };
      },
    },
  },
  {
    name: 'the parts of a large value that became shorter stay',
    caughtBy: 'large values come back whole through every change of size',
    sql: rewrittenCommit((text) => text.replaceAll(/("(note|letter)_part"."part") >= w."part"/g, '$1 < 0')),
  },
  {
    name: 'the barrier is a read',
    caughtBy: 'a commit that arrives after the barrier never applies',
    sql: {
      ...storeSql,
      barrier: (address, epoch) => ({
        text: 'SELECT epoch, version, commit_id FROM actor WHERE kind = $1 AND id = $2 AND epoch = $3',
        values: [address.kind, address.id, epoch],
      }),
    },
  },
  {
    name: 'an activation loads slices in its own statement',
    caughtBy: 'an activation waits for a commit in flight, and what is read after it sees that commit',
    wrap: loadingActivation,
  },
  {
    name: 'an activation takes whatever epoch is there',
    caughtBy:
      'an activation takes a lower or an equal epoch and bumps the version; a lower one of its own is fenced',
    sql: {
      ...storeSql,
      activate: (...input) => reworded(storeSql.activate(...input), ' AND epoch <= $3', ''),
    },
  },
  {
    name: 'an activation wants a strictly greater epoch',
    caughtBy:
      'an activation takes a lower or an equal epoch and bumps the version; a lower one of its own is fenced',
    sql: {
      ...storeSql,
      activate: (...input) => reworded(storeSql.activate(...input), 'epoch <= $3', 'epoch < $3'),
    },
  },
  {
    name: 'the incarnation that registers last holds the node',
    caughtBy: 'a registration comes late to a node that has left, too',
    sql: {
      ...storeSql,
      register: (...input) =>
        reworded(storeSql.register(...input), 'node.started < excluded.started', '$7::int8 > 0'),
    },
  },
  {
    name: 'a new incarnation does not wait for the lease of its predecessor',
    caughtBy: 'a new incarnation waits for the lease of its predecessor, and nothing is changed until then',
    sql: {
      ...storeSql,
      register: (...input) =>
        reworded(storeSql.register(...input), /node\.expires_at < \S+.*(?=\))/, 'node.expires_at > 0'),
    },
  },
  {
    name: 'a release does not ask under which epoch',
    caughtBy: 'a release that comes late frees nothing that was claimed again',
    sql: {
      ...storeSql,
      release: (...input) =>
        reworded(storeSql.release(...input), 'AND shard.epoch = w.epoch', 'AND w.epoch > 0'),
    },
  },
  {
    name: 'epochs are computed without a lock',
    caughtBy: 'a claim that waits behind another takes only what that one left, under a greater epoch',
    sql: {
      ...storeSql,
      nextEpoch: () => ({ text: 'SELECT coalesce(max(epoch), 0) + 1 AS value FROM shard', values: [] }),
    },
  },
  {
    name: 'a shard is taken however it was seen',
    caughtBy: 'a claim that waits behind another takes only what that one left, under a greater epoch',
    sql: {
      ...storeSql,
      takeShards: (...input) =>
        reworded(
          storeSql.takeShards(...input),
          'WHERE (shard.shard, shard.epoch) IN',
          'WHERE $1 IS NOT NULL OR (shard.shard, shard.epoch) IN',
        ),
    },
  },
  {
    name: 'a lapsed lease counts as dead before it is expired',
    caughtBy: 'a lapsed lease still holds its shards until it is expired, and may be renewed until then',
    sql: {
      ...storeSql,
      freeShards: (...input) => {
        const live = 'node.incarnation = shard.incarnation';
        const unexpired = `${live} AND node.expires_at >= extract(epoch FROM now()) * 1000`;
        return reworded(storeSql.freeShards(...input), live, unexpired);
      },
    },
  },
  {
    name: 'a dead incarnation may claim',
    caughtBy: 'only a claim of something uses up an epoch',
    sql: {
      ...storeSql,
      freeShards: (...input) => reworded(storeSql.freeShards(...input), /AND \(\$2::text.*/, ''),
      takeShards: (...input) => reworded(storeSql.takeShards(...input), /WHERE EXISTS .*/, ''),
    },
  },
  {
    name: 'an actor whose row was removed begins with version 0 again',
    caughtBy:
      'the row of an actor without state goes after a while with its tombstone, and versions go on from there',
    sql: { ...storeSql, raiseVersionFloor: () => ({ text: 'SELECT 1', values: [] }) },
  },
  {
    name: 'an actor goes by what its row says of its end',
    caughtBy: 'an actor that has state stays, whatever was said of it, and is not looked at again',
    sql: {
      ...storeSql,
      removeActors: (...input) =>
        reworded(storeSql.removeActors(...input), /AND NOT [\s\S]*?(?=RETURNING)/, ''),
    },
  },
  {
    name: 'a commit leaves the end of an actor where it was',
    caughtBy: 'an activation, a barrier and a commit each begin the time anew for which the row stays',
    sql: rewrittenCommit((text) => text.replace(/CASE WHEN w.ends .* END/, 'actor.ended_at')),
  },
  {
    name: 'anybody makes an actor',
    caughtBy: 'a former owner of the shard cannot make an actor, wherever its row is',
    sql: {
      ...storeSql,
      activateOrCreate: (...input) =>
        reworded(storeSql.activateOrCreate(...input), 'shard.epoch > $3', 'shard.epoch < 0'),
    },
  },
  {
    name: 'sweeps come in no order',
    caughtBy: 'due timers come oldest first, of the shards asked, within both bounds, without the dead',
    sql: {
      ...storeSql,
      dueTimers: (...input) =>
        reworded(storeSql.dueTimers(...input), 'ORDER BY due_at, kind, id, name', 'ORDER BY name'),
    },
  },
  {
    name: 'a cross-owner read looks at the memberships first, and at the rows later',
    caughtBy: 'memberships and rows of a cross-owner read are of one moment',
    wrap: readingInTwo,
  },
  {
    name: 'a cross-owner read does not ask whose membership it is',
    caughtBy:
      'a cross-owner read answers for those who authorize the reader, each in order after its own position, as they were asked',
    sql: rewrittenCrossOwnerRead(/JOIN "member" AS g ON .* AND/, 'JOIN "member" AS g ON'),
  },
  {
    name: 'a cross-owner read does not ask who the member is',
    caughtBy:
      'a cross-owner read answers for those who authorize the reader, each in order after its own position, as they were asked',
    sql: rewrittenCrossOwnerRead(/AND g\."member_uuid" = /, 'AND g."member_uuid" IS DISTINCT FROM '),
  },
  {
    name: 'an owner with nothing new counts as one that authorizes nobody',
    caughtBy:
      'a cross-owner read answers for those who authorize the reader, each in order after its own position, as they were asked',
    sql: rewrittenCrossOwnerRead('LEFT JOIN fitting', 'JOIN fitting'),
  },
  {
    name: 'a cross-owner read begins with the row that the reader has',
    caughtBy:
      'a cross-owner read answers for those who authorize the reader, each in order after its own position, as they were asked',
    sql: rewrittenCrossOwnerRead('> a.asked_after', '>= a.asked_after'),
  },
  {
    name: 'a cross-owner read gives what has gone on to others',
    caughtBy:
      'a cross-owner read passes over what another row has come after, whoever owns that, from the commit on that writes it',
    sql: rewrittenCrossOwnerRead(/ > coalesce\(s\."hop", 0\)/, ' < 0'),
  },
  {
    name: 'a cross-owner read passes over what has come back from others',
    caughtBy:
      'a cross-owner read passes over what another row has come after, whoever owns that, from the commit on that writes it',
    sql: rewrittenCrossOwnerRead(/ > coalesce\(s\."hop", 0\)/, ' <> coalesce(s."hop", 0)'),
  },
  {
    name: 'a limit of a cross-owner read is of each owner',
    caughtBy: 'a limit is of all owners together, and nothing after the first row it left out is complete',
    sql: rewrittenCrossOwnerRead(
      /count\(\*\) OVER \(ORDER BY p.asked_index,/,
      'count(*) OVER (PARTITION BY p.asked_index ORDER BY',
    ),
  },
  {
    name: 'a budget of a cross-owner read begins anew with each owner',
    caughtBy: 'a budget ends a cross-owner read after the row that reaches it, whoever owns that',
    sql: rewrittenCrossOwnerRead(
      /(sum\(.*? OVER \()ORDER BY p.asked_index,/,
      '$1PARTITION BY p.asked_index ORDER BY',
    ),
  },
  {
    name: 'an owner is complete where nothing of it was left out, though the turn has not come to it',
    caughtBy: 'a limit is of all owners together, and nothing after the first row it left out is complete',
    sql: rewrittenCrossOwnerRead('SELECT min(f.asked_index)', 'SELECT max(f.asked_index) + 1'),
  },
  {
    name: 'every owner gets the subset of each',
    caughtBy: 'of each owner a cross-owner read gives the subset asked of that one',
    sql: rewrittenCrossOwnerRead(/AND a\.asked_subset = (\$\d+::text)/g, 'AND $1 IS NOT NULL'),
  },
  {
    name: 'a look-up by a part of a key has a limit for each value',
    caughtBy:
      'a look-up by the first columns of a key finds all their rows, by value and then in the order of the key',
    sql: {
      ...storeSql,
      planRead: (read) => {
        const { statement, finish } = storeSql.planRead(read);
        if (read.read !== 'lookup') return { statement, finish };
        return {
          statement: reworded(statement, / LIMIT \S+$/, ''),
          finish: (rows) => ({ ...finish(rows), complete: true }),
        };
      },
    },
  },
  {
    name: 'a look-up of the last rows begins with the first rows',
    caughtBy: 'a look-up of the last rows gives so many of each value, and the values as they were asked',
    sql: {
      ...storeSql,
      planRead: (read) =>
        storeSql.planRead(read.read === 'lookup' ? { ...read, lastOfEach: undefined } : read),
    },
  },
  {
    name: 'a range is always complete',
    caughtBy: 'a range cut by its limit is incomplete; one that ends exactly at it is complete',
    sql: {
      ...storeSql,
      planRead: (read) => {
        const { statement, finish } = storeSql.planRead(read);
        return { statement, finish: (rows) => ({ ...finish(rows), complete: true }) };
      },
    },
  },
];

/** The same kind of mistake in the model: the contract must catch it as well. */
export class VersionBlindDatabase extends ModelDatabase {
  override commit(commits: readonly Commit[]): ReadonlySet<number> {
    return super.commit(
      commits.map((commit) => ({ ...commit, version: this.head(commit.address)?.version ?? commit.version })),
    );
  }
}
