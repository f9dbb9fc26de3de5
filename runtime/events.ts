/**
 * Receives the events of actors. A process is subscribed to an actor once the actor's host has answered its registration
 * (`turn.subscribe`). Events are best effort. After anything that may have lost one, the actor is registered again and then
 * reported as `repaired`. Subscribers then ask it for what they may have missed.
 */
import type { Address } from './address.ts';
import type { Actors } from './handles.ts';

/** Why an event may have been lost. */
export type RepairCause = 'claimed' | 'moved' | 'gap' | 'reconnected' | 'due' | 'failed';

export interface SubscriptionMetrics {
  received(): void;
  gap(): void;
  repaired(cause: RepairCause): void;
}

/** A subscriber to actors, with its handlers for their events. */
export interface Subscriber {
  /** The id under which it listens. It belongs to one run of one process. */
  readonly gateway: string;
  /**
   * Subscribes to the actor. Resolves to the name of the registration, or to undefined if there is nothing left to subscribe to.
   * Its asks of `actors` before its first wait go in one message with those of other registrations.
   */
  readonly register: (actor: Address, actors: Actors) => Promise<string | undefined>;
  /**
   * `isBehind`: an earlier event may have been lost. So this one must not reach any user whom the lost event could have shut
   * out. `repaired` makes up for events kept back.
   */
  readonly event: (actor: Address, event: unknown, isBehind: boolean) => void;
  /** The subscription holds again. Events may have been lost before. */
  readonly repaired: (actor: Address) => void;
  readonly metrics: SubscriptionMetrics;
}

/** The actors with a subscription. */
export interface SubscribedActors {
  /** Registrations that wait, for metrics. */
  readonly waiting: number;
  /** Call this before the first registration, so that nothing that concerns it is missed. */
  add(actor: Address): void;
  /** A registration by another part of the gateway has subscribed it to the actor. */
  registered(actor: Address, registration: string): void;
  /**
   * After this time something of the actor ends by its age, without an event. The actor is then registered again soon. Call it
   * with each answer to a registration.
   */
  endsWithin(actor: Address, ms: number): void;
  /** A registration by another part of the gateway has failed. This process makes it until it is answered. */
  failed(actor: Address, error: unknown): void;
  remove(actor: Address): void;
  stop(): void;
}

/** Starts listening; the actors themselves are added and removed later. */
export type Subscribe = (subscriber: Subscriber) => SubscribedActors;
