/**
 * The statements about nodes, their leases, and the owners of shards. Times are milliseconds by the database's clock, taken at
 * the start of the statement. So a renewal that had to wait makes a lease shorter than its holder believes, but by less than
 * the holder's safety margin.
 */
import type { HeldShard, NodeRow } from '../store.ts';
import type { Statement } from './sql.ts';
import { nowMs } from './statements.ts';

const isExpired = `node.expires_at < ${nowMs}`;

/**
 * Takes the node's row from an earlier process that is gone. Returns no row if a later start has it or the predecessor's lease
 * still runs. `started` comes from a statement of its own: a number drawn in this one would be the latest whenever it ran.
 */
export const register = (
  node: NodeRow,
  started: number,
  leaseMs: number,
  isPredecessorDead: boolean,
): Statement => ({
  text: `INSERT INTO node (id, incarnation, address, roles, version, formats, started, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, ${nowMs} + $8::int8)
    ON CONFLICT (id) DO UPDATE SET incarnation = excluded.incarnation, address = excluded.address,
      roles = excluded.roles, version = excluded.version, formats = excluded.formats,
      started = excluded.started, expires_at = excluded.expires_at, draining = false, connected = true
    WHERE node.started < excluded.started
      AND ($9::bool OR node.incarnation IS NULL OR node.incarnation = excluded.incarnation OR ${isExpired})
    RETURNING id`,
  values: [
    node.id,
    node.incarnation,
    node.address,
    node.roles,
    node.version,
    node.formats,
    started,
    leaseMs,
    isPredecessorDead,
  ],
});

/** The row that prevents a registration. */
export const registered = (nodeId: string): Statement => ({
  text: `SELECT started, expires_at - ${nowMs} AS expires_in_ms FROM node WHERE id = $1`,
  values: [nodeId],
});

export const renew = (nodeId: string, incarnation: string, leaseMs: number): Statement => ({
  text: `UPDATE node SET expires_at = ${nowMs} + $3::int8 WHERE id = $1 AND incarnation = $2
    RETURNING ${nowMs} AS now_ms`,
  values: [nodeId, incarnation, leaseMs],
});

/** Once no node row has the incarnation, all of its shards are free. */
export const leave = (nodeId: string, incarnation: string): Statement => ({
  text: `UPDATE node SET incarnation = NULL, expires_at = CASE WHEN ${isExpired} THEN expires_at ELSE ${nowMs} END
    WHERE id = $1 AND incarnation = $2`,
  values: [nodeId, incarnation],
});

export const nodes = (): Statement => ({
  text: `SELECT id, incarnation, address, roles, version, formats, draining, connected, expires_at - ${nowMs} AS expires_in_ms
    FROM node ORDER BY id`,
  values: [],
});

/** If no incarnation is named, any one counts. */
export const setConnected = (nodeId: string, incarnation: string, connected: boolean): Statement => ({
  text: 'UPDATE node SET connected = $3 WHERE id = $1 AND incarnation = $2',
  values: [nodeId, incarnation, connected],
});

export const setDraining = (nodeId: string, draining: boolean, incarnation: string | null): Statement => ({
  text: `UPDATE node SET draining = $2
    WHERE id = $1 AND incarnation IS NOT NULL AND ($3::text IS NULL OR incarnation = $3) RETURNING id`,
  values: [nodeId, draining, incarnation],
});

export const expireNodes = (): Statement => ({
  text: `UPDATE node SET incarnation = NULL WHERE incarnation IS NOT NULL AND ${isExpired} RETURNING id`,
  values: [],
});

export const removeNodes = (beforeMs: number): Statement => ({
  text: 'DELETE FROM node WHERE incarnation IS NULL AND expires_at < $1',
  values: [beforeMs],
});

/** Those of these shards that no live incarnation holds, or only the claimer, if it is live. -1: never taken. */
export const freeShards = (shards: readonly number[], claimer: string | null): Statement => ({
  text: `SELECT w.shard, coalesce(shard.epoch, -1) AS epoch FROM unnest($1::int8[]) AS w(shard)
    LEFT JOIN shard ON shard.shard = w.shard
    LEFT JOIN node ON node.incarnation = shard.incarnation
    WHERE (node.id IS NULL OR shard.incarnation = $2)
      AND ($2::text IS NULL OR EXISTS (SELECT 1 FROM node AS own WHERE own.incarnation = $2))
    ORDER BY w.shard`,
  values: [shards, claimer],
});

export const nextEpoch = (): Statement => nextOf('epoch');
export const nextStart = (): Statement => nextOf('start');

const nextOf = (counter: string): Statement => ({
  text: `INSERT INTO counter (name, value) VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET value = counter.value + 1 RETURNING value`,
  values: [counter],
});

/**
 * Takes the shards that are still as they were seen free, if the claimer itself is live. A shard that was taken meanwhile has
 * another epoch. An incarnation that was dead once stays dead.
 */
export const takeShards = (
  nodeId: string,
  incarnation: string,
  seen: readonly HeldShard[],
  epoch: number,
): Statement => ({
  text: `INSERT INTO shard (shard, node, incarnation, epoch)
    SELECT w.shard, $2, $3, $4::int8 FROM unnest($1::int8[]) AS w(shard)
    WHERE EXISTS (SELECT 1 FROM node WHERE node.id = $2 AND node.incarnation = $3)
    ON CONFLICT (shard) DO UPDATE SET node = excluded.node, incarnation = excluded.incarnation,
      epoch = excluded.epoch
    WHERE (shard.shard, shard.epoch) IN (SELECT s.shard, s.epoch FROM unnest($1::int8[], $5::int8[]) AS s(shard, epoch))
    RETURNING shard`,
  values: [seen.map(({ shard }) => shard), nodeId, incarnation, epoch, seen.map(({ epoch }) => epoch)],
});

export const shardsOf = (incarnation: string): Statement => ({
  text: 'SELECT shard, epoch FROM shard WHERE incarnation = $1 ORDER BY shard',
  values: [incarnation],
});

export const shards = (): Statement => ({
  text: 'SELECT shard, node, incarnation, epoch FROM shard ORDER BY shard',
  values: [],
});

/** Releases by epoch, so that a late release frees no shard that was claimed again. */
export const release = (
  incarnation: string,
  shards: readonly number[],
  epochs: readonly number[],
): Statement => ({
  text: `UPDATE shard SET incarnation = '' FROM unnest($2::int8[], $3::int8[]) AS w(shard, epoch)
    WHERE shard.shard = w.shard AND shard.incarnation = $1 AND shard.epoch = w.epoch`,
  values: [incarnation, shards, epochs],
});
