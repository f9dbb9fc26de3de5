/**
 * The transport port. It carries calls to the owner of an actor, hints between hosts, and events to the gateways that subscribe
 * to an actor.
 *
 * Nothing here is a promise. A call may be lost on its way. It may also reach several processes, at different times. A wake-up,
 * a hint or an event may never come, and any of them may come late. Recorded calls and repeats make up for that with calls, and
 * the outbox with wake-ups. The owners' reconciliation with the database makes up for lost hints, and the gateways'
 * registrations for lost events.
 *
 * An adapter must still guarantee:
 * 1. A call whose shard is routed to this process is a function call.
 * 2. A call that certainly reached no handler rejects as `moved` (no process serves its shard now) or `unavailable` (this
 *    process is cut off). A call that may have reached one and was not answered rejects as `retryable`, outcome unknown. An
 *    `ActorError` of the handler arrives as the same class with the same meaning, and any other error as `terminal`.
 * 3. A call to another process names the epoch of its shard's owner. So no copy runs at another owner, and no other process
 *    says that nothing took effect (`owner-epochs.ts`).
 * 4. Everything that it holds is bounded. Beyond the bound a call rejects as `overloaded`.
 */
import type { Address } from '../address.ts';
import type { TellRow } from '../store/store.ts';
import type { Span } from '../tracing.ts';

export interface Transport {
  /** False while calls of this process reach no other process. */
  readonly isConnected: boolean;
  /** Whether other processes may serve, now or soon, what this one does not. */
  readonly reachesOthers: boolean;
  /** Serves routed calls until `stop`, which ends all routing to this process. */
  serve(handler: TransportHandler): void;
  stop(): void;
  /** From now on calls to these shards come here. Resolves when those of other processes do. Never rejects. */
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

/** The answers of a host. */
export interface TransportHandler {
  ask(call: AskCall): Promise<unknown>;
  /** A call of another process, which may run another release. So its request is checked first. */
  askFromRemote(call: AskCall): Promise<unknown>;
  /** The epoch under which this host owns a shard. Undefined if it does not own it. */
  epochOf(shard: number): number | undefined;
  /** A tell waits for an actor of a shard that is routed here. */
  wake(tell: TellRow): void;
  hinted(hint: Hint): void;
}

export type Hint =
  /** A host left or must drain: any shard may move. */
  | { readonly hint: 'nodes' }
  /** The host of this node id joined: it takes shards of some hosts. */
  | { readonly hint: 'joined'; readonly node: string }
  /** No host owns these shards now. */
  | { readonly hint: 'freed'; readonly shards: readonly number[] }
  /** This incarnation owns them now: subscribers to their actors must register again. */
  | {
      readonly hint: 'claimed';
      readonly shards: readonly number[];
      readonly host: string;
      /** The epoch of this claim. Callers may do without it (`owner-epochs.ts`). */
      readonly epoch?: number | undefined;
    }
  /** This incarnation is up, and can be reached. */
  | { readonly hint: 'present'; readonly host: string }
  /** This incarnation, which owns these shards, was cut off and is back. Messages to it or from it may be lost. */
  | { readonly hint: 'returned'; readonly shards: readonly number[]; readonly host: string }
  /** An operator wants every shard at its own host now. */
  | { readonly hint: 'rebalance' };

/** An event that an actor published. `sequence` counts the events from this host to this gateway: a gap is a loss. */
export interface HostEvent {
  /** The incarnation of the host. */
  readonly host: string;
  readonly sequence: number;
  readonly address: Address;
  readonly event: unknown;
  /** The commit that the event follows, as a `traceparent`, if its request is sampled. */
  readonly trace?: string | undefined;
}

export interface GatewayListener {
  event(event: HostEvent): void;
  hinted(hint: Hint): void;
  /** This process was cut off and is connected again. Events may have been lost. */
  reconnected(): void;
}

/** One ask on its way to the owner of an actor. */
export interface AskCall {
  readonly address: Address;
  readonly command: string;
  readonly request: unknown;
  /** The same for every repeat of one call. */
  readonly callId: string;
  /** After this the caller no longer waits, in monotonic milliseconds of the host's clock. */
  readonly deadlineMs: number;
  /** In a call of another process: the claim of the shard that it is for (`owner-epochs.ts`). */
  readonly epoch?: number | undefined;
  /** The step of its request that this call is, if that request is sampled. */
  readonly span?: Span | undefined;
}
