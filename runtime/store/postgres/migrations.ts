/** The tables of the runtime itself (see `runtime/migration.ts`). */
import type { Migration } from '../../migration.ts';

export const runtimeMigrations: readonly Migration[] = [
  {
    id: 'runtime-0001-node',
    sql: `
      CREATE TABLE IF NOT EXISTS node (
        id text NOT NULL PRIMARY KEY,
        incarnation text,
        address text NOT NULL,
        roles text NOT NULL,
        version text NOT NULL,
        formats text NOT NULL,
        started int8 NOT NULL,
        expires_at int8 NOT NULL,
        draining bool NOT NULL DEFAULT false,
        connected bool NOT NULL DEFAULT true
      )`,
  },
  {
    id: 'runtime-0002-shard',
    sql: `
      CREATE TABLE IF NOT EXISTS shard (
        shard int8 NOT NULL PRIMARY KEY,
        node text NOT NULL,
        incarnation text NOT NULL,
        epoch int8 NOT NULL
      )`,
  },
  {
    id: 'runtime-0003-shard-by-incarnation',
    sql: 'CREATE INDEX IF NOT EXISTS shard_by_incarnation ON shard (incarnation)',
  },
  {
    id: 'runtime-0004-counter',
    sql: `
      CREATE TABLE IF NOT EXISTS counter (
        name text NOT NULL PRIMARY KEY,
        value int8 NOT NULL
      )`,
  },
  {
    id: 'runtime-0005-actor',
    sql: `
      CREATE TABLE IF NOT EXISTS actor (
        kind text NOT NULL,
        id text NOT NULL,
        shard int8 NOT NULL,
        epoch int8 NOT NULL,
        version int8 NOT NULL,
        commit_id uuid,
        ended_at int8,
        PRIMARY KEY (kind, id)
      )`,
  },
  {
    id: 'runtime-0006-actor-by-end',
    sql: `
      CREATE INDEX IF NOT EXISTS actor_by_end ON actor (shard, ended_at)
        WHERE ended_at IS NOT NULL`,
  },
  {
    id: 'runtime-0007-setting',
    sql: `
      CREATE TABLE IF NOT EXISTS setting (
        name text NOT NULL PRIMARY KEY,
        value text NOT NULL
      )`,
  },
  {
    id: 'runtime-0008-slice',
    sql: `
      CREATE TABLE IF NOT EXISTS slice (
        kind text NOT NULL,
        id text NOT NULL,
        slice text NOT NULL,
        data bytea NOT NULL,
        PRIMARY KEY (kind, id, slice)
      )`,
  },
  {
    id: 'runtime-0009-timer',
    sql: `
      CREATE TABLE IF NOT EXISTS timer (
        kind text NOT NULL,
        id text NOT NULL,
        name text NOT NULL,
        shard int8 NOT NULL,
        due_at int8 NOT NULL,
        payload bytea NOT NULL,
        attempts int8 NOT NULL,
        dead bool NOT NULL,
        PRIMARY KEY (kind, id, name)
      )`,
  },
  {
    id: 'runtime-0010-timer-due',
    sql: 'CREATE INDEX IF NOT EXISTS timer_due ON timer (shard, due_at) WHERE dead = false',
  },
  {
    id: 'runtime-0011-timer-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE timer CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
  {
    id: 'runtime-0012-outbox',
    sql: `
      CREATE TABLE IF NOT EXISTS outbox (
        target_kind text NOT NULL,
        target_id text NOT NULL,
        tell_id uuid NOT NULL,
        target_shard int8 NOT NULL,
        name text NOT NULL,
        payload bytea NOT NULL,
        sender_kind text NOT NULL,
        sender_id text NOT NULL,
        sender_version int8 NOT NULL,
        attempts int8 NOT NULL,
        retry_at int8 NOT NULL,
        dead bool NOT NULL,
        PRIMARY KEY (target_kind, target_id, tell_id)
      )`,
  },
  {
    id: 'runtime-0013-outbox-pending',
    sql: `
      CREATE INDEX IF NOT EXISTS outbox_pending ON outbox (target_shard, retry_at)
        WHERE dead = false`,
  },
  {
    id: 'runtime-0014-outbox-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE outbox CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
  {
    id: 'runtime-0015-call',
    sql: `
      CREATE TABLE IF NOT EXISTS call (
        kind text NOT NULL,
        id text NOT NULL,
        call_key text NOT NULL,
        shard int8 NOT NULL,
        reply bytea NOT NULL,
        at int8 NOT NULL,
        PRIMARY KEY (kind, id, call_key)
      )`,
  },
  {
    id: 'runtime-0016-call-age',
    sql: 'CREATE INDEX IF NOT EXISTS call_age ON call (shard, at)',
  },
  {
    id: 'runtime-0017-call-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE call CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
  {
    id: 'runtime-0018-slice-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE slice CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
  {
    id: 'runtime-0019-actor-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE actor CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
  {
    id: 'runtime-0020-node-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE node CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
];
