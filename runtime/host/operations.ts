/**
 * What operators ask of single actors, wherever they are: commands of every kind that the host answers itself, sent by
 * ordinary routing to whoever owns the actor.
 */
import { z } from 'zod';
import type { Address } from '../address.ts';
import type { CommandShapes } from '../contract.ts';
import type { Actors } from '../kind.ts';

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
  /** As the database has it; undefined where there is no row. */
  version: z.number().optional(),
  pendingTimers: z.number(),
  deadTimers: z.number(),
});
export type ActorReport = z.infer<typeof reportSchema>;

const nothing = z.null();

/** Shaped like any command, so that requests and replies are checked on their way; `HostCommands` runs them. */
export const hostCommands = {
  /** Where an actor lives and what it waits for. */
  $inspect: { request: nothing, reply: reportSchema },
  /** Drops an idle actor from memory. False: it was not there, or is not idle. */
  $evict: { request: nothing, reply: z.boolean() },
  /** A wake-up: delivers a tell if its row is still there. Resolves when that is done with for now. */
  $deliver: { request: z.object({ tellId: z.uuid() }), reply: nothing },
  /** Tries a dead timer or tell anew. False: there is none of that name. */
  $reviveTimer: { request: z.object({ name: z.string() }), reply: z.boolean() },
  $reviveTell: { request: z.object({ tellId: z.uuid() }), reply: z.boolean() },
} satisfies CommandShapes;
export type HostCommand = keyof typeof hostCommands;

export const actorOperations = (actors: Actors, { kind, id }: Address) =>
  actors.get({ name: kind, commands: hostCommands }, id).ask;
