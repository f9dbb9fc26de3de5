/** Answers operators and look-ups from the database, in the terms of `runtime/operations.ts` and `runtime/command.ts`. */
import { found, lookupRead } from '../actor/reads.ts';
import type { Lookups } from '../command.ts';
import { DatabaseUnavailableError, RetryableError } from '../errors.ts';
import type { ClusterOperations, DeadTell, DeadTimer, NodeReport } from '../operations.ts';
import { runsActors } from '../ownership/membership.ts';
import { type LiveNode, type Store, StoreError, type TellRow, type TimerRow } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';

export interface ClusterOperationsOptions {
  readonly store: Pick<Store, 'nodes' | 'shards' | 'setDraining' | 'backlog' | 'deadTimers' | 'deadTells'>;
  readonly transport: Pick<Transport, 'hint'>;
}

export function createClusterOperations({ store, transport }: ClusterOperationsOptions): ClusterOperations {
  return {
    nodes: () => asking(async () => (await store.nodes()).map(nodeReport)),
    shards: () => asking(() => store.shards()),
    backlog: (deadMax) =>
      asking(async () => {
        const [backlog, timers, tells] = await Promise.all([
          store.backlog(),
          store.deadTimers(deadMax),
          store.deadTells(deadMax),
        ]);
        return {
          pendingTimers: backlog.pendingTimers,
          pendingTells: backlog.pendingTells,
          deadTimerCount: backlog.deadTimers,
          deadTellCount: backlog.deadTells,
          deadTimers: timers.map(deadTimer),
          deadTells: tells.map(deadTell),
        };
      }),
    setDraining: (node, draining) =>
      asking(async () => {
        const isThere = await store.setDraining(node, draining);
        if (isThere) transport.hint({ hint: 'nodes' });
        return isThere;
      }),
    rebalance: () => transport.hint({ hint: 'rebalance' }),
  };
}

export function createLookups(store: Pick<Store, 'read'>): Lookups {
  return {
    find: (plan) =>
      asking(async () => {
        const read = lookupRead(plan);
        const [answer] = read === undefined ? [] : await store.read([read]);
        return found(answer);
      }),
  };
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof StoreError ? asActorError(error) : error;
  }
}

function asActorError(error: StoreError): Error {
  switch (error.failure) {
    case 'unavailable':
    case 'conflict':
      return new DatabaseUnavailableError('the database cannot answer now');
    case 'unknown':
      return new RetryableError('the database did not answer', { outcome: 'unknown' });
    // Callers of these statements do not expect such an error.
    case 'rejected':
    case 'defect':
      return error;
  }
}

const nodeReport = (node: LiveNode): NodeReport => ({
  id: node.id,
  incarnation: node.incarnation,
  address: node.address,
  roles: node.roles,
  runsActors: runsActors(node.roles),
  version: node.version,
  draining: node.draining,
  expiresInMs: node.expiresInMs,
});

const deadTimer = ({ kind, id, name, due_at, attempts }: TimerRow): DeadTimer => ({
  actor: { kind, id },
  name,
  dueMs: due_at,
  attempts,
});

const deadTell = (tell: TellRow): DeadTell => ({
  tellId: tell.tell_id,
  target: { kind: tell.target_kind, id: tell.target_id },
  sender: { kind: tell.sender_kind, id: tell.sender_id },
  name: tell.name,
  attempts: tell.attempts,
});
