/**
 * The statements about actors, timers, tells, calls and settings that no table's declaration generates. Times are milliseconds
 * by the database's clock.
 */
import type { Address } from '../../address.ts';
import type { SweepRead } from '../store.ts';
import { outboxTable, timerTable, tombstoneSlice } from '../tables.ts';
import { type Dialect, type Each, firstOfEach } from './each.ts';
import { idents, Parameters, type Statement } from './sql.ts';

/** The start of the statement. */
export const nowMs = 'floor(extract(epoch FROM now()) * 1000)::int8';

export const time = (): Statement => ({ text: `SELECT ${nowMs} AS now_ms`, values: [] });

// Actors. Each statement first locks the actor's row and waits for a commit in flight. PostgreSQL then checks the condition
// again on the row as that commit left it. Only a later statement may read other rows.

/** A write to the row of an actor without state restarts the time for which that row stays. */
const endedStill = `CASE WHEN actor.ended_at IS NOT NULL THEN ${nowMs} END`;

/** Above all versions of removed rows. */
const versionFloor = `SELECT value FROM counter WHERE name = 'version'`;

export const activate = (address: Address, epoch: number): Statement => ({
  text: `UPDATE actor SET epoch = $3, version = version + 1, ended_at = ${endedStill}
    WHERE kind = $1 AND id = $2 AND epoch <= $3
    RETURNING epoch, version, commit_id`,
  values: [address.kind, address.id, epoch],
});

export interface Activating {
  readonly address: Address;
  readonly epoch: number;
}

/**
 * Activates several actors. It passes over rows that another transaction has locked, and so is part of no deadlock. An actor
 * without a row in the answer is locked, absent or fenced.
 */
export const activateMany = (actors: readonly Activating[]): Statement => ({
  text: `WITH unlocked AS (
      SELECT w.member, w.epoch, actor.kind, actor.id
      FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[]) AS w(member, kind, id, epoch)
      JOIN actor ON actor.kind = w.kind AND actor.id = w.id
      WHERE actor.epoch <= w.epoch
      FOR NO KEY UPDATE OF actor SKIP LOCKED)
    UPDATE actor SET epoch = unlocked.epoch, version = version + 1, ended_at = ${endedStill}
    FROM unlocked WHERE actor.kind = unlocked.kind AND actor.id = unlocked.id
    RETURNING unlocked.member, actor.epoch, actor.version, actor.commit_id`,
  values: [...membersOf(actors.map(({ address }) => address)), actors.map(({ epoch }) => epoch)],
});

/** A former owner of the shard must not do this: if the row was removed, no epoch shows that it is a former owner. */
export const activateOrCreate = (address: Address, shard: number, epoch: number): Statement => ({
  text: `INSERT INTO actor (kind, id, shard, epoch, version, ended_at)
    SELECT $1::text, $2::text, $4::int8, $3::int8, coalesce((${versionFloor}), 0), ${nowMs}
    WHERE NOT EXISTS (SELECT 1 FROM shard WHERE shard.shard = $4 AND shard.epoch > $3)
    ON CONFLICT (kind, id) DO UPDATE SET epoch = excluded.epoch, version = actor.version + 1, ended_at = ${endedStill}
    WHERE actor.epoch <= excluded.epoch
    RETURNING epoch, version, commit_id`,
  values: [address.kind, address.id, epoch, shard],
});

export const barrier = (address: Address, epoch: number): Statement => ({
  text: `UPDATE actor SET version = version + 1, ended_at = ${endedStill}
    WHERE kind = $1 AND id = $2 AND epoch = $3
    RETURNING epoch, version, commit_id`,
  values: [address.kind, address.id, epoch],
});

export const head = (address: Address): Statement => ({
  text: 'SELECT epoch, version, commit_id FROM actor WHERE kind = $1 AND id = $2',
  values: [address.kind, address.id],
});

/** Locks the rows that it returns until the statement ends, which is at once. */
export const unlocked = (addresses: readonly Address[]): Statement => ({
  text: `SELECT w.member FROM unnest($1::int8[], $2::text[], $3::text[]) AS w(member, kind, id)
    JOIN actor ON actor.kind = w.kind AND actor.id = w.id
    FOR NO KEY UPDATE OF actor SKIP LOCKED`,
  values: membersOf(addresses),
});

/** Slices of several actors, by their positions in the list. */
export const slicesOfMany = (addresses: readonly Address[]): Statement => ({
  text: `SELECT w.member, slice.slice, slice.data FROM unnest($1::int8[], $2::text[], $3::text[]) AS w(member, kind, id)
    JOIN slice ON slice.kind = w.kind AND slice.id = w.id
    ORDER BY w.member, slice.slice`,
  values: membersOf(addresses),
});

const membersOf = (addresses: readonly Address[]): readonly unknown[] => [
  addresses.map((_, member) => member),
  addresses.map(({ kind }) => kind),
  addresses.map(({ id }) => id),
];

export const slices = (address: Address): Statement => ({
  text: 'SELECT slice, data FROM slice WHERE kind = $1 AND id = $2 ORDER BY slice',
  values: [address.kind, address.id],
});

// Timers, tells, calls, settings.

const timerColumns = idents(Object.keys(timerTable.columns));
const outboxColumns = idents(Object.keys(outboxTable.columns));

export const timers = (address: Address): Statement => ({
  text: `SELECT ${timerColumns} FROM timer WHERE kind = $1 AND id = $2 ORDER BY name`,
  values: [address.kind, address.id],
});

/** Timers of several actors, by their positions in the list. */
export const timersOfMany = (addresses: readonly Address[]): Statement => ({
  text: `SELECT w.member, ${idents(Object.keys(timerTable.columns), 'timer')}
    FROM unnest($1::int8[], $2::text[], $3::text[]) AS w(member, kind, id)
    JOIN timer ON timer.kind = w.kind AND timer.id = w.id
    ORDER BY w.member, timer.name`,
  values: membersOf(addresses),
});

/**
 * Reads of several shards, shard by shard, each in the order of its index and no further than its share. A read of all shards
 * at once would make the database read and sort every due row.
 */
export const sweepStatements = (dialect: Dialect) => ({
  dueTimers({ shards, fromMs, untilMs, limit, share }: SweepRead): Statement {
    const parameters = new Parameters();
    const [from, until, most, all] = int8s(parameters, [fromMs, untilMs, share, limit]);
    const due = ofEachShard(
      { dialect, parameters, shards, selected: timerColumns, alias: 'due' },
      (shard) => {
        return `FROM timer WHERE timer.shard = ${shard} AND dead = false AND due_at >= ${from} AND due_at <= ${until}
      ORDER BY due_at LIMIT ${most}`;
      },
    );
    const columns = idents(Object.keys(timerTable.columns), 'due');
    const text = `SELECT ${columns} FROM ${due} ORDER BY due_at, kind, id, name LIMIT ${all}`;
    return { text, values: parameters.values };
  },

  pendingTells({ shards, fromMs, untilMs, limit, share }: SweepRead): Statement {
    const parameters = new Parameters();
    const [from, until, most, all] = int8s(parameters, [fromMs, untilMs, share, limit]);
    const due = ofEachShard(
      { dialect, parameters, shards, selected: outboxColumns, alias: 'due' },
      (shard) => {
        return `FROM outbox WHERE outbox.target_shard = ${shard} AND dead = false AND retry_at >= ${from} AND retry_at <= ${until}
      ORDER BY retry_at LIMIT ${most}`;
      },
    );
    const columns = idents(Object.keys(outboxTable.columns), 'due');
    const text = `SELECT ${columns} FROM ${due} ORDER BY retry_at, target_kind, target_id, tell_id LIMIT ${all}`;
    return { text, values: parameters.values };
  },

  pruneCalls(shards: readonly number[], beforeMs: number, limit: number): Statement {
    const parameters = new Parameters();
    const [before, all] = int8s(parameters, [beforeMs, limit]);
    const selected = 'kind, id, call_key';
    const found = ofEachShard({ dialect, parameters, shards, selected, alias: 'found' }, (shard) => {
      return `FROM call WHERE call.shard = ${shard} AND at < ${before} ORDER BY at LIMIT ${all}`;
    });
    const text = `WITH old AS (SELECT found.kind, found.id, found.call_key FROM ${found} LIMIT ${all})
    DELETE FROM call USING old
    WHERE call.kind = old.kind AND call.id = old.id AND call.call_key = old.call_key
    RETURNING call.call_key`;
    return { text, values: parameters.values };
  },
});

const int8s = (parameters: Parameters, values: readonly number[]): readonly string[] =>
  values.map((value) => parameters.add('int8', value));

const ofEachShard = (
  {
    shards,
    ...each
  }: Omit<Each<number>, 'items' | 'columns' | 'rows'> & { readonly shards: readonly number[] },
  rows: (shard: string) => string,
): string =>
  firstOfEach({
    ...each,
    items: shards,
    columns: [{ name: 'shard', type: 'int8', of: (shard) => shard }],
    rows: (value) => rows(value('shard')),
  });

/** The backlog that operators see. It counts two whole tables, which are usually short. */
export const backlog = (): Statement => ({
  text: `SELECT (SELECT count(*) FROM outbox WHERE dead = false) AS pending_tells,
    (SELECT count(*) FROM outbox WHERE dead = true) AS dead_tells,
    (SELECT count(*) FROM timer WHERE dead = false) AS pending_timers,
    (SELECT count(*) FROM timer WHERE dead = true) AS dead_timers`,
  values: [],
});

export const deadTimers = (limit: number): Statement => ({
  text: `SELECT ${timerColumns} FROM timer WHERE dead = true ORDER BY due_at, kind, id, name LIMIT $1`,
  values: [limit],
});

export const deadTells = (limit: number): Statement => ({
  text: `SELECT ${outboxColumns} FROM outbox WHERE dead = true ORDER BY target_kind, target_id, tell_id LIMIT $1`,
  values: [limit],
});

/** Actors of these shards that seem to have been without state since this time. */
export const endedActors = (shards: readonly number[], beforeMs: number, limit: number): Statement => ({
  text: `SELECT kind, id, version, ended_at FROM actor
    WHERE shard = ANY($1::int8[]) AND ended_at IS NOT NULL AND ended_at < $2 LIMIT $3`,
  values: [shards, beforeMs, limit],
});

export interface EndedActor {
  readonly kind: string;
  readonly id: string;
  readonly version: number;
}

export const raiseVersionFloor = (version: number): Statement => ({
  text: `INSERT INTO counter (name, value) VALUES ('version', $1)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE counter.value < excluded.value`,
  values: [version],
});

/**
 * Removes actors without state, with their tombstones. A write that came meanwhile has raised the version, and that actor
 * stays.
 */
export const removeActors = (actors: readonly EndedActor[]): Statement => ({
  text: `WITH gone AS (
      DELETE FROM actor USING unnest($1::text[], $2::text[], $3::int8[]) AS w(kind, id, version)
      WHERE actor.kind = w.kind AND actor.id = w.id AND actor.version = w.version
        AND NOT ${hasState}
      RETURNING actor.kind, actor.id)
    DELETE FROM slice USING gone WHERE slice.kind = gone.kind AND slice.id = gone.id`,
  values: columnsOfEnded(actors),
});

/** An actor with state has not ended, whatever its row says. It is not checked again. */
export const reviewActors = (actors: readonly EndedActor[]): Statement => ({
  text: `UPDATE actor SET ended_at = NULL
    FROM unnest($1::text[], $2::text[], $3::int8[]) AS w(kind, id, version)
    WHERE actor.kind = w.kind AND actor.id = w.id AND actor.version = w.version
      AND ${hasState}`,
  values: columnsOfEnded(actors),
});

const hasState = `(EXISTS (SELECT 1 FROM slice
        WHERE slice.kind = actor.kind AND slice.id = actor.id AND slice.slice <> '${tombstoneSlice}')
      OR EXISTS (SELECT 1 FROM timer WHERE timer.kind = actor.kind AND timer.id = actor.id))`;

const columnsOfEnded = (actors: readonly EndedActor[]): readonly unknown[] => [
  actors.map(({ kind }) => kind),
  actors.map(({ id }) => id),
  actors.map(({ version }) => version),
];

export const setSetting = (name: string, value: string): Statement => ({
  text: `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING value`,
  values: [name, value],
});

export const replaceSetting = (name: string, value: string): Statement => ({
  text: `INSERT INTO setting (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  values: [name, value],
});

export const setting = (name: string): Statement => ({
  text: 'SELECT value FROM setting WHERE name = $1',
  values: [name],
});

/** Checks the isolation level of a new connection. */
export const isolation: Statement = { text: 'SHOW transaction_isolation', values: [] };
export const readOnly: Statement = { text: 'SHOW transaction_read_only', values: [] };
export const serverVersion: Statement = { text: 'SELECT version() AS version', values: [] };
