/**
 * Receiving what actors publish. A process is subscribed to an actor from when the actor's host has answered its
 * registration (`turn.subscribe`). Events are best effort: after anything that may have lost one the actor is
 * registered again and then reported as `repaired`, so that subscribers ask it for what they may have missed.
 */
import type { Address } from './address.ts';
import type { Actors } from './handles.ts';

/** What may have lost an event. */
export type RepairCause = 'claimed' | 'moved' | 'gap' | 'reconnected' | 'due' | 'failed';

export interface SubscriptionMetrics {
  received(): void;
  gap(): void;
  repaired(cause: RepairCause): void;
}

/** A subscriber to actors, and what it does with what they publish. */
export interface Subscriber {
  /** The id under which it listens: of one run of one process. */
  readonly gateway: string;
  /**
   * Subscribes to the actor. Resolves to the incarnation of its host, or to undefined where nothing is left to
   * subscribe to. What it asks of `actors` before it waits for anything goes in one message with what other registrations ask.
   */
  readonly register: (actor: Address, actors: Actors) => Promise<string | undefined>;
  /**
   * `isBehind`: an earlier event may have been lost, so nothing may be told to anybody whom that event could have shut out. What
   * is kept back is made up for by `repaired`.
   */
  readonly event: (actor: Address, event: unknown, isBehind: boolean) => void;
  /** The subscription holds again. Events of it may have been lost before. */
  readonly repaired: (actor: Address) => void;
  readonly metrics: SubscriptionMetrics;
}

/** The actors that are subscribed to. */
export interface SubscribedActors {
  /** Registrations that wait, for metrics. */
  readonly waiting: number;
  /** To be called before the first registration is made, so that nothing that concerns it is missed. */
  add(actor: Address): void;
  /** This gateway was subscribed to the actor by a registration that was not made from here. */
  registered(actor: Address, host: string): void;
  /**
   * Something of the actor ends by its age after this time, which nobody publishes: the actor is registered anew soon after that.
   * To be called with each answer to a registration.
   */
  endsWithin(actor: Address, ms: number): void;
  /** A registration that was not made from here has failed. It is made from here, until it is answered. */
  failed(actor: Address, error: unknown): void;
  remove(actor: Address): void;
  stop(): void;
}

/** Starts listening; the actors themselves are added and removed later. */
export type Subscribe = (subscriber: Subscriber) => SubscribedActors;
