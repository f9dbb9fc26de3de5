/**
 * Changes the number of shards of a cluster while none of its nodes runs.
 *
 * Protocol, under the lock of the schema so that one process at a time does it:
 * 1. The setting `resharding` names the new count. From here on no node starts. Each node looks at the setting before it
 *    registers and again afterwards, so either the node or this process sees the other.
 * 2. Nodes whose lease has lapsed are declared dead. If one is left, it is live: the setting is cleared, and nothing was
 *    changed.
 * 3. The version of every actor is bumped, together with its shard. A commit that a dead node still has on the way finds no
 *    row. So the next steps see every timer, tell and call there will ever be.
 * 4. Timers, tells and calls get the shards of their actors.
 * 5. No node owns any shard.
 * 6. The new count is set, and then the setting `resharding` is cleared.
 *
 * One statement at a time rewrites a range of primary keys. A crash at any step leaves the setting. No node starts, another
 * count is rejected, and the same count does everything again without harm.
 */
import type pg from 'pg';
import { shardOf } from '../../address.ts';
import type { ColumnType } from '../../table.ts';
import { expireNodes, nodes } from './ownership-statements.ts';
import { underSchemaLock } from './schema-lock.ts';
import { ident, idents, Parameters, type Statement } from './sql.ts';
import { replaceSetting, setting } from './statements.ts';

/** The setting that marks a database whose shards are being changed, and its value while they are not. */
export const resharding = { setting: 'resharding', none: 'none' } as const;
export const shardCountSetting = 'shard-count';

export type Resharding =
  | { readonly outcome: 'done'; readonly from: number; readonly rows: number }
  /** The database has that many shards already, and no change is under way. */
  | { readonly outcome: 'unchanged' }
  /** No node has ever served this database. */
  | { readonly outcome: 'unused' }
  /** This node has a lease. Nothing was changed. */
  | { readonly outcome: 'live'; readonly node: string; readonly expiresInMs: number }
  /** A change to another count was begun and has to be finished first. */
  | { readonly outcome: 'begun'; readonly shardCount: number };

interface ShardedTable {
  readonly name: string;
  readonly key: Readonly<Record<string, ColumnType>>;
  /** The columns with the address of the actor that the row belongs to. */
  readonly kind: string;
  readonly id: string;
  readonly shard: string;
}

const actors: ShardedTable = {
  name: 'actor',
  key: { kind: 'text', id: 'text' },
  kind: 'kind',
  id: 'id',
  shard: 'shard',
};
const ofActors: readonly ShardedTable[] = [
  { ...actors, name: 'timer', key: { kind: 'text', id: 'text', name: 'text' } },
  {
    name: 'outbox',
    key: { target_kind: 'text', target_id: 'text', tell_id: 'uuid' },
    kind: 'target_kind',
    id: 'target_id',
    shard: 'target_shard',
  },
  { ...actors, name: 'call', key: { kind: 'text', id: 'text', call_key: 'text' } },
];

export interface ReshardOptions {
  readonly connection: pg.ClientConfig;
  readonly shardCount: number;
  readonly batchRows?: number;
  /** Called after each batch with the number of rows of that table done so far. */
  readonly onProgress?: (table: string, rows: number) => void;
}

/** @throws StoreError; a second call resumes where the first failed */
export function reshard(options: ReshardOptions): Promise<Resharding> {
  return underSchemaLock(options.connection, (worker, assertHeld) => {
    const query: Query = async ({ text, values }) => {
      assertHeld();
      return (await worker.query<Row>(text, [...values])).rows;
    };
    return new Resharder(query, options).run();
  });
}

type Row = Readonly<Record<string, string>>;
type Query = (statement: Statement) => Promise<readonly Row[]>;

class Resharder {
  readonly #query: Query;
  readonly #shardCount: number;
  readonly #batchRows: number;
  readonly #onProgress: (table: string, rows: number) => void;

  constructor(query: Query, { shardCount, batchRows = 1_000, onProgress = () => undefined }: ReshardOptions) {
    this.#query = query;
    this.#shardCount = shardCount;
    this.#batchRows = batchRows;
    this.#onProgress = onProgress;
  }

  async run(): Promise<Resharding> {
    const before = await this.#setting(shardCountSetting);
    if (before === undefined) return { outcome: 'unused' };
    const marked = (await this.#setting(resharding.setting)) ?? resharding.none;
    if (marked === resharding.none && before === this.#target) return { outcome: 'unchanged' };
    if (marked !== resharding.none && marked !== this.#target)
      return { outcome: 'begun', shardCount: Number(marked) };
    await this.#query(replaceSetting(resharding.setting, this.#target));
    const live = await this.#liveNode();
    if (live !== undefined) {
      await this.#query(replaceSetting(resharding.setting, marked));
      return live;
    }
    const rows = await this.#rewriteAll();
    await this.#clearShards();
    await this.#query(replaceSetting(shardCountSetting, this.#target));
    await this.#query(replaceSetting(resharding.setting, resharding.none));
    return { outcome: 'done', from: Number(before), rows };
  }

  get #target(): string {
    return String(this.#shardCount);
  }

  async #setting(name: string): Promise<string | undefined> {
    const [row] = await this.#query(setting(name));
    return row?.['value'];
  }

  async #liveNode(): Promise<Extract<Resharding, { outcome: 'live' }> | undefined> {
    await this.#query(expireNodes());
    const [live] = (await this.#query(nodes())).filter((node) => node['incarnation'] !== null);
    if (live === undefined) return undefined;
    return { outcome: 'live', node: live['id'] ?? '', expiresInMs: Number(live['expires_in_ms']) };
  }

  async #rewriteAll(): Promise<number> {
    let rows = 0;
    // Actors come first: that ends every commit still on its way.
    for (const table of [actors, ...ofActors]) rows += await this.#rewrite(table);
    return rows;
  }

  async #rewrite(table: ShardedTable): Promise<number> {
    let done = 0;
    for (let after: Row | undefined; ; ) {
      const batch = await this.#query(nextKeys(table, after, this.#batchRows));
      after = batch.at(-1);
      if (after === undefined) return done;
      await this.#query(setShards(table, batch, this.#shardCount));
      done += batch.length;
      this.#onProgress(table.name, done);
    }
  }

  async #clearShards(): Promise<void> {
    while ((await this.#query(dropShards(this.#batchRows))).length > 0);
  }
}

const nextKeys = (table: ShardedTable, after: Row | undefined, limit: number): Statement => {
  const parameters = new Parameters();
  const names = idents(Object.keys(table.key));
  const where = after === undefined ? '' : `WHERE (${names}) > (${bounds(table, after, parameters)})`;
  return {
    text: `SELECT ${names} FROM ${ident(table.name)} ${where} ORDER BY ${names} LIMIT ${parameters.add('int8', limit)}`,
    values: parameters.values,
  };
};

const bounds = (table: ShardedTable, after: Row, parameters: Parameters): string =>
  Object.entries(table.key)
    .map(([name, type]) => parameters.add(type, after[name]))
    .join(', ');

/** Only an actor's row has a version to bump. */
const setShards = (table: ShardedTable, batch: readonly Row[], shardCount: number): Statement => {
  const parameters = new Parameters();
  const names = Object.keys(table.key);
  const keys = Object.entries(table.key).map(([name, type]) =>
    parameters.array(type, batch, (row) => row[name]),
  );
  const shards = parameters.array('int8', batch, (row) =>
    shardOf({ kind: row[table.kind] ?? '', id: row[table.id] ?? '' }, shardCount),
  );
  const target = ident(table.name);
  const matches = names.map((name) => `${target}.${ident(name)} = w.${ident(name)}`);
  const bump = table === actors ? `, version = ${target}.version + 1` : '';
  return {
    text: `UPDATE ${target} SET ${ident(table.shard)} = w.new_shard${bump}
    FROM unnest(${[...keys, shards].join(', ')}) AS w(${idents(names)}, new_shard)
    WHERE ${matches.join(' AND ')}`,
    values: parameters.values,
  };
};

const dropShards = (limit: number): Statement => ({
  text: 'DELETE FROM shard WHERE shard IN (SELECT shard FROM shard ORDER BY shard LIMIT $1) RETURNING shard',
  values: [limit],
});
