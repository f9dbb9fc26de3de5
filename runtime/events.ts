/**
 * Hearing what actors publish. A process follows an actor from when the actor's host has answered its registration
 * (`turn.follow`). Events are best effort: whatever may have cost one has the actor registered anew, and then it is told
 * to be `repaired`, for whoever listens to ask the actor for what may have been missed.
 */
import type { Address } from './address.ts';

/** What may have cost an event. */
export type RepairCause = 'claimed' | 'moved' | 'gap' | 'reconnected' | 'due' | 'failed';

export interface FollowingMetrics {
  received(): void;
  gap(): void;
  repaired(cause: RepairCause): void;
}

/** Who follows actors, and what it does about what they publish. */
export interface Follower {
  /** The id under which it listens: of one run of one process. */
  readonly gateway: string;
  /** Has the actor follow it. Resolves to the incarnation of its host, or to undefined where nothing is left to follow. */
  readonly register: (actor: Address) => Promise<string | undefined>;
  readonly event: (actor: Address, event: unknown) => void;
  /** The actor is followed again. Events of it may have been lost before. */
  readonly repaired: (actor: Address) => void;
  readonly metrics: FollowingMetrics;
}

/** The actors that are followed. */
export interface FollowedActors {
  /** Registrations that wait, for metrics. */
  readonly waiting: number;
  /** To be called before the first registration is made, so that nothing that concerns it is missed. */
  add(actor: Address): void;
  /** The actor follows this gateway by a registration that was not made from here. */
  registered(actor: Address, host: string): void;
  remove(actor: Address): void;
  stop(): void;
}

/** Begins to listen; which actors are followed is said by and by. */
export type Follow = (follower: Follower) => FollowedActors;
