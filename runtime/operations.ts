/** What operators can see and do from any process of a cluster, for the cluster and for single actors. */
import { z } from 'zod';
import type { Address } from './address.ts';
import type { CommandShapes } from './contract.ts';
import type { Actors } from './handles.ts';

// --- the cluster ---------------------------------------------------------------------------------------------

export interface NodeReport {
  readonly id: string;
  /** Null if the node has left, or was declared dead. */
  readonly incarnation: string | null;
  readonly address: string;
  readonly roles: string;
  readonly runsActors: boolean;
  readonly version: string;
  readonly draining: boolean;
  /** Measured by database time. */
  readonly expiresInMs: number;
}

/** The last incarnation that took a shard. The shard is free unless a node has that incarnation. */
export interface ShardReport {
  readonly shard: number;
  readonly epoch: number;
  readonly node: string;
  readonly incarnation: string;
}

/** The timers and tells that wait in the whole cluster, and some of those that failed too often. */
interface BacklogReport {
  readonly pendingTimers: number;
  readonly pendingTells: number;
  readonly deadTimerCount: number;
  readonly deadTellCount: number;
  readonly deadTimers: readonly DeadTimer[];
  readonly deadTells: readonly DeadTell[];
}

export interface DeadTimer {
  readonly actor: Address;
  readonly name: string;
  readonly dueMs: number;
  readonly attempts: number;
}

export interface DeadTell {
  readonly tellId: string;
  readonly target: Address;
  readonly sender: Address;
  readonly name: string;
  readonly attempts: number;
}

/** Reads from the database. Rejects with an `ActorError`, or with an unforeseen error. */
export interface ClusterOperations {
  /** Every node that ever registered. */
  nodes(): Promise<readonly NodeReport[]>;
  /** Every shard that was ever taken, in order. */
  shards(): Promise<readonly ShardReport[]>;
  /** The backlog, with up to `deadMax` dead timers and as many dead tells. */
  backlog(deadMax: number): Promise<BacklogReport>;
  /** Sets whether a node should drain. False if there is no such live node. */
  setDraining(node: string, draining: boolean): Promise<boolean>;
  /** Asks for a rebalance now. */
  rebalance(): void;
}

// --- single actors -------------------------------------------------------------------------------------------

const reportSchema = z.object({
  /** The node and the incarnation that own the actor. */
  node: z.string(),
  incarnation: z.string(),
  shard: z.number(),
  epoch: z.number(),
  /** `passive`: not in memory. */
  phase: z.enum(['passive', 'activating', 'active', 'settling']),
  /** What the next message would wait for. */
  waitsFor: z.enum(['nothing', 'activation', 'commit', 'outcome']),
  /** Messages that wait for their turn. */
  waiting: z.number(),
  /** Outcomes that wait at the gate for their commit. */
  atGate: z.number(),
  heldBytes: z.number(),
  idleMs: z.number(),
  /** From the database. Undefined if there is no row. */
  version: z.number().optional(),
  pendingTimers: z.number(),
  deadTimers: z.number(),
});
export type ActorReport = z.infer<typeof reportSchema>;

/** The figures by which actors in memory can be ranked. */
const actorRanks = ['bytes', 'turns', 'waiting'] as const;
export type ActorRank = (typeof actorRanks)[number];

const rankedSchema = z.object({
  kind: z.string(),
  id: z.string(),
  heldBytes: z.number(),
  /** Since it came into memory. */
  turns: z.number(),
  /** Messages that wait for their turn. */
  waiting: z.number(),
  /** Commits since it was made. */
  version: z.number(),
});

const topSchema = z.object({ node: z.string(), actors: z.array(rankedSchema) });
export type HostTop = z.infer<typeof topSchema>;

const nothing = z.null();

/**
 * Commands of every kind that the actor's host answers itself. They have the shape of any command, so that requests and replies
 * are checked on their way.
 */
export const operatorCommands = {
  /** The actor's owner, and what the actor waits for. */
  $inspect: { request: nothing, reply: reportSchema },
  /** The highest-ranked actors in the memory of the host that owns this address. No actor needs to have the address. */
  $top: { request: z.object({ by: z.enum(actorRanks), limit: z.int() }), reply: topSchema },
  /** Drops an idle actor from memory. False if it was not there, or is not idle. */
  $evict: { request: nothing, reply: z.boolean() },
  /** Retries a dead timer or tell. False if there is none with that name. */
  $reviveTimer: { request: z.object({ name: z.string() }), reply: z.boolean() },
  $reviveTell: { request: z.object({ tellId: z.uuid() }), reply: z.boolean() },
} satisfies CommandShapes;

/** Routed like any call, to the actor's owner. */
export const actorOperations = (actors: Actors, { kind, id }: Address) =>
  actors.get({ name: kind, commands: operatorCommands }, id).ask;
