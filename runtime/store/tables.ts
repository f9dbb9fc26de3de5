/** The runtime's own rows, declared like those of a domain, so that one writer serves both. */
import { table } from '../table.ts';

/** Document slices: small parts of an actor's state, written only when changed (at most 64 KiB each). */
export const sliceTable = table({
  name: 'slice',
  columns: { kind: 'text', id: 'text', slice: 'text', data: 'bytea' },
  key: ['kind', 'id', 'slice'],
});

/** The slice that marks an actor as a tombstone, and its only one. */
export const tombstoneSlice = '$buried';

/** Timers. `due_at` is milliseconds since the epoch, by database time. */
export const timerTable = table({
  name: 'timer',
  columns: {
    kind: 'text',
    id: 'text',
    name: 'text',
    shard: 'int8',
    due_at: 'int8',
    payload: 'bytea',
    attempts: 'int8',
    dead: 'bool',
  },
  key: ['kind', 'id', 'name'],
});

/** Tells that are committed and not yet consumed. Written by the sender, removed by the target. */
export const outboxTable = table({
  name: 'outbox',
  columns: {
    target_kind: 'text',
    target_id: 'text',
    tell_id: 'uuid',
    target_shard: 'int8',
    name: 'text',
    payload: 'bytea',
    sender_kind: 'text',
    sender_id: 'text',
    sender_version: 'int8',
    attempts: 'int8',
    retry_at: 'int8',
    dead: 'bool',
  },
  key: ['target_kind', 'target_id', 'tell_id'],
});

/** Replies of recorded calls. `call_key` is a digest of the call id; `reply` is sealed under it. */
export const callTable = table({
  name: 'call',
  columns: { kind: 'text', id: 'text', call_key: 'text', shard: 'int8', reply: 'bytea', at: 'int8' },
  key: ['kind', 'id', 'call_key'],
});

/** The version of each actor's row, which grows with every commit. It is read as a table and never written as one. */
export const versionTable = table({
  name: 'actor',
  columns: { kind: 'text', id: 'text', version: 'int8' },
  key: ['kind', 'id'],
});

export const runtimeTables = [sliceTable, timerTable, outboxTable, callTable] as const;
