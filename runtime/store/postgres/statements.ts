/**
 * Every statement that is not generated from a table's declaration: actors, ownership, timers, tells, settings.
 * Times are milliseconds by the database's clock. Those of a statement are of its start, so that a renewal that
 * had to wait can only make a lease shorter than its holder believes by less than the holder's own caution.
 */
import type { Address } from '../../address.ts';
import type { NodeRow } from '../store.ts';
import { outboxTable, timerTable } from '../tables.ts';
import { idents, type Statement } from './sql.ts';

const nowMs = 'floor(extract(epoch FROM now()) * 1000)::int8';

export const time = (): Statement => ({ text: `SELECT ${nowMs} AS now_ms`, values: [] });

// Actors. Each of these locks the actor's row first and waits for a commit in flight, and PostgreSQL then checks
// the condition again on the row as that commit left it. Other rows are read in a later statement only.

export const activate = (address: Address, epoch: number): Statement => ({
  text: `UPDATE actor SET epoch = $3, version = version + 1
    WHERE kind = $1 AND id = $2 AND epoch <= $3
    RETURNING epoch, version, commit_id`,
  values: [address.kind, address.id, epoch],
});

export const activateOrCreate = (address: Address, shard: number, epoch: number): Statement => ({
  text: `INSERT INTO actor (kind, id, shard, epoch, version) VALUES ($1, $2, $4, $3, 0)
    ON CONFLICT (kind, id) DO UPDATE SET epoch = excluded.epoch, version = actor.version + 1
    WHERE actor.epoch <= excluded.epoch
    RETURNING epoch, version, commit_id`,
  values: [address.kind, address.id, epoch, shard],
});

export const barrier = (address: Address, epoch: number): Statement => ({
  text: `UPDATE actor SET version = version + 1
    WHERE kind = $1 AND id = $2 AND epoch = $3
    RETURNING epoch, version, commit_id`,
  values: [address.kind, address.id, epoch],
});

export const head = (address: Address): Statement => ({
  text: 'SELECT epoch, version, commit_id FROM actor WHERE kind = $1 AND id = $2',
  values: [address.kind, address.id],
});

export const slices = (address: Address): Statement => ({
  text: 'SELECT slice, data FROM slice WHERE kind = $1 AND id = $2 ORDER BY slice',
  values: [address.kind, address.id],
});

// Ownership.

/**
 * Takes the node's row from whoever started earlier; no row comes back where a later start has it. `started` comes
 * from a statement of its own: a number drawn in this one would be the latest whenever it ran.
 */
export const register = (node: NodeRow, started: number, leaseMs: number): Statement => ({
  text: `INSERT INTO node (id, incarnation, address, roles, version, formats, started, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, ${nowMs} + $8::int8)
    ON CONFLICT (id) DO UPDATE SET incarnation = excluded.incarnation, address = excluded.address,
      roles = excluded.roles, version = excluded.version, formats = excluded.formats,
      started = excluded.started, expires_at = excluded.expires_at
    WHERE node.started < excluded.started
    RETURNING id`,
  values: [node.id, node.incarnation, node.address, node.roles, node.version, node.formats, started, leaseMs],
});

export const renew = (nodeId: string, incarnation: string, leaseMs: number): Statement => ({
  text: `UPDATE node SET expires_at = ${nowMs} + $3::int8 WHERE id = $1 AND incarnation = $2 RETURNING id`,
  values: [nodeId, incarnation, leaseMs],
});

/** Without its incarnation in a node row, whatever an incarnation owned is free. */
export const leave = (nodeId: string, incarnation: string): Statement => ({
  text: 'UPDATE node SET incarnation = NULL, expires_at = 0 WHERE id = $1 AND incarnation = $2',
  values: [nodeId, incarnation],
});

export const nodes = (): Statement => ({
  text: `SELECT id, incarnation, expires_at - ${nowMs} AS expires_in_ms FROM node ORDER BY id`,
  values: [],
});

export const buryExpired = (): Statement => ({
  text: `UPDATE node SET incarnation = NULL WHERE incarnation IS NOT NULL AND expires_at < ${nowMs}`,
  values: [],
});

/** Of these shards, those that no other live incarnation holds. */
export const freeShards = (shards: readonly number[], claimer: string): Statement => ({
  text: `SELECT w.shard FROM unnest($1::int8[]) AS w(shard)
    LEFT JOIN shard ON shard.shard = w.shard
    LEFT JOIN node ON node.incarnation = shard.incarnation
    WHERE node.id IS NULL OR shard.incarnation = $2 ORDER BY w.shard`,
  values: [shards, claimer],
});

export const nextEpoch = (): Statement => nextOf('epoch');
export const nextStart = (): Statement => nextOf('start');

const nextOf = (counter: string): Statement => ({
  text: `INSERT INTO counter (name, value) VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET value = counter.value + 1 RETURNING value`,
  values: [counter],
});

/** Takes the shards if the claimer itself is live. */
export const takeShards = (
  nodeId: string,
  incarnation: string,
  shards: readonly number[],
  epoch: number,
): Statement => ({
  text: `INSERT INTO shard (shard, node, incarnation, epoch)
    SELECT w.shard, $2, $3, $4::int8 FROM unnest($1::int8[]) AS w(shard)
    WHERE EXISTS (SELECT 1 FROM node WHERE node.id = $2 AND node.incarnation = $3)
    ON CONFLICT (shard) DO UPDATE SET node = excluded.node, incarnation = excluded.incarnation,
      epoch = excluded.epoch
    RETURNING shard`,
  values: [shards, nodeId, incarnation, epoch],
});

// Timers, tells, calls, settings.

const timerColumns = idents(Object.keys(timerTable.columns));
const outboxColumns = idents(Object.keys(outboxTable.columns));

export const timers = (address: Address): Statement => ({
  text: `SELECT ${timerColumns} FROM timer WHERE kind = $1 AND id = $2 ORDER BY name`,
  values: [address.kind, address.id],
});

export const dueTimers = (
  shards: readonly number[],
  fromDueMs: number,
  dueMs: number,
  limit: number,
): Statement => ({
  text: `SELECT ${timerColumns} FROM timer
    WHERE shard = ANY($1::int8[]) AND dead = false AND due_at >= $2 AND due_at <= $3
    ORDER BY due_at, kind, id, name LIMIT $4`,
  values: [shards, fromDueMs, dueMs, limit],
});

export const pendingTells = (shards: readonly number[], atMs: number, limit: number): Statement => ({
  text: `SELECT ${outboxColumns} FROM outbox
    WHERE target_shard = ANY($1::int8[]) AND dead = false AND retry_at <= $2
    ORDER BY retry_at, target_kind, target_id, tell_id LIMIT $3`,
  values: [shards, atMs, limit],
});

export const pruneCalls = (shards: readonly number[], beforeMs: number, limit: number): Statement => ({
  text: `DELETE FROM call WHERE (kind, id, call_key) IN (
      SELECT kind, id, call_key FROM call WHERE shard = ANY($1::int8[]) AND at < $2 ORDER BY at LIMIT $3)
    RETURNING call_key`,
  values: [shards, beforeMs, limit],
});

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

/** What readiness checks of a connection. */
export const isolation: Statement = { text: 'SHOW transaction_isolation', values: [] };
export const readOnly: Statement = { text: 'SHOW transaction_read_only', values: [] };
