/**
 * The transport port: how a call reaches the owner of an actor, how hosts tell each other what changed, and how what
 * an actor publishes reaches the gateways subscribed to it.
 *
 * Nothing here is a promise. A call may be lost or doubled on its way, a wake-up, a hint or an event may never come,
 * and any of them may come late. What makes up for it: recorded calls and the repeats of callers for calls, the outbox
 * for wake-ups, the owners' reconciliation with the database for hints, and the gateways' registrations for events.
 *
 * What an adapter must still guarantee:
 * 1. A call whose shard is routed to this process is a function call.
 * 2. A call that certainly reached no handler rejects as `moved` (nobody serves its shard now) or `unavailable` (this
 *    process is cut off); one that may have reached it and was not answered rejects as `retryable`, outcome unknown.
 *    An `ActorError` of the handler arrives as the same class with the same meaning, anything else as `terminal`.
 * 3. Everything it holds is bounded; beyond the bound a call rejects as `overloaded`.
 */
import type { Address } from '../address.ts';
import type { AskCall } from '../host/call.ts';
import type { TellRow } from '../store/store.ts';

export interface Transport {
  /** False while calls of this process reach no other. */
  readonly isConnected: boolean;
  /** Whether there can be other processes, now or soon, that serve what is not served here. */
  readonly reachesOthers: boolean;
  /** Serves what is routed here until `stop`, which ends all routing to this process. */
  serve(handler: TransportHandler): void;
  stop(): void;
  /** From now on calls to these shards come here. Resolves when calls of other processes do. Never rejects. */
  route(shards: readonly number[]): Promise<void>;
  /** Calls to these shards no longer come here. */
  unroute(shards: readonly number[]): void;
  /** @throws ActorError of the class that decides what the caller may do */
  ask(call: AskCall): Promise<unknown>;
  /** Brings the delivery of a committed tell forward, wherever its target is. */
  wake(tell: TellRow): void;
  /** Tells every process of the cluster, this one included. */
  hint(hint: Hint): void;
  /** Hands an event to one gateway. */
  publish(gateway: string, event: HostEvent): void;
  /** Listens as the gateway of this id until the returned function is called. */
  listen(gateway: string, listener: GatewayListener): () => void;
}

/** What a host answers. */
export interface TransportHandler {
  ask(call: AskCall): Promise<unknown>;
  /** A call of another process, which may be of another release: its request is checked first. */
  askFromElsewhere(call: AskCall): Promise<unknown>;
  /** A tell waits for an actor of a shard that is routed here. */
  wake(tell: TellRow): void;
  hinted(hint: Hint): void;
}

export type Hint =
  /** A host left or must drain: any shard may move. */
  | { readonly hint: 'nodes' }
  /** The host of this node id joined: it takes shards of some hosts. */
  | { readonly hint: 'joined'; readonly node: string }
  /** Nobody owns these shards now. */
  | { readonly hint: 'freed'; readonly shards: readonly number[] }
  /** This incarnation owns them now: subscribers to their actors must register again. */
  | { readonly hint: 'claimed'; readonly shards: readonly number[]; readonly host: string }
  /** This incarnation is up, and can be reached. */
  | { readonly hint: 'present'; readonly host: string }
  /** This incarnation, which owns these shards, was cut off and is no longer: what was sent to it or by it may be lost. */
  | { readonly hint: 'returned'; readonly shards: readonly number[]; readonly host: string }
  /** An operator wants every shard in its place now. */
  | { readonly hint: 'rebalance' };

/** Something an actor published. `sequence` counts what this host sent to this gateway: a gap is a loss. */
export interface HostEvent {
  /** The incarnation of the host. */
  readonly host: string;
  readonly sequence: number;
  readonly address: Address;
  readonly event: unknown;
}

export interface GatewayListener {
  event(event: HostEvent): void;
  hinted(hint: Hint): void;
  /** Events may have been lost: this process was cut off, and is no longer. */
  reconnected(): void;
}
