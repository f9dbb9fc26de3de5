/**
 * Which gateways subscribe to which actors of this host, and the events sent to them.
 *
 * Nothing here is durable and nothing is promised: an event is sent once, after the commit that justifies it. A gateway that
 * notices a loss makes up for it by subscribing to its actors again (`subscriptions.ts`):
 *
 *   the shard gets another owner     the new owner hints that it claimed it; this host drops all of its subscriptions
 *   this host ends, in any way       likewise, once its shards are claimed
 *   an event is lost on its way      events to one gateway are numbered; the next one shows the gap
 *   the last one is lost             heartbeats after it repeat its number; they belong to no actor
 *   they are lost as well            the answer to a gateway that renews its subscriptions has the number, too
 *
 * A gateway that finds a gap asks which actors the lost events came from, and subscribes to those only. This host remembers the
 * actors of the last events to each gateway. A heartbeat has no number of its own: a gateway that lost only heartbeats has
 * nothing to make up for. A gateway that was sent nothing gets no heartbeats. If all hosts always sent them to all gateways,
 * their number would grow with the square of the hosts.
 *
 * Events go to a gateway that ended without notice until its subscriptions expire. They reach no one.
 */
import { z } from 'zod';
import { type Address, addressKey, shardOf } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';

/** A signal that a turn wants to send with its outcome, besides its writes. */
export type TurnSignal = { readonly publish: unknown } | { readonly subscribe: string };

/** Longer than a gateway takes to renew all of its subscriptions. */
export const subscriptionMs = 900_000;
export const heartbeatMs = 10_000;
/** When heartbeats follow the last event to a gateway, in multiples of `heartbeatMs`. */
export const beats: readonly number[] = [1, 3, 7];
/** The host remembers the actors of this many last events to each gateway. */
export const rememberedMax = 1_024;
/** The most subscriptions on one host, because each costs memory. More are rejected. */
const subscriptionsMax = 200_000;

/** Stands in a heartbeat in place of an actor. */
export const noActor: Address = { kind: '', id: '' };

/** A host's answer to a gateway that renews the subscriptions of a shard. */
export const renewalSchema = z.object({
  host: z.string(),
  /** The number of the last event it sent to the gateway. */
  sequence: z.number(),
  /** The indexes of subscriptions that the host does not have. */
  lapsed: z.array(z.number()).readonly(),
});
export type Renewal = z.infer<typeof renewalSchema>;

/** A host's answer to a gateway that has missed events. */
export const missedSchema = z.object({
  host: z.string(),
  /** The actors of these events, without repeats. Null if there are more events than the host remembers. */
  actors: z
    .array(z.object({ kind: z.string(), id: z.string() }))
    .readonly()
    .nullable(),
});
export type MissedEvents = z.infer<typeof missedSchema>;

export interface PublisherOptions {
  readonly transport: Pick<Transport, 'publish' | 'isConnected'>;
  readonly clock: Clock;
  readonly shardCount: number;
  /** This host's incarnation, by which gateways distinguish hosts. */
  readonly host: string;
  readonly subscriptionsMax?: number;
}

interface GatewaySubscription {
  readonly gateway: string;
  readonly untilMs: number;
}

/** The events sent to one gateway. */
interface GatewayStream {
  /** The number of the last event. */
  sequence: number;
  /** How many times `heartbeatMs` has passed since then. */
  quiet: number;
  /** The actors of the last events, each at its number modulo `rememberedMax`. */
  readonly actors: Address[];
}

interface SubscribedActor {
  readonly shard: number;
  subscriptions: readonly GatewaySubscription[];
}

/** The host at which a registration was made. */
export const hostOfRegistration = (registration: string): string => registration.split('/', 1)[0] ?? '';

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #subscriptionsMax: number;
  readonly #byActor = new Map<string, SubscribedActor>();
  /** Keyed by gateway. */
  readonly #sent = new Map<string, GatewayStream>();
  /** How often this host has dropped a shard. */
  readonly #drops = new Map<number, number>();
  #size = 0;
  #cancelHeartbeat: (() => void) | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#subscriptionsMax = options.subscriptionsMax ?? subscriptionsMax;
  }

  get host(): string {
    return this.#options.host;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Names a registration at this host. A new name tells the gateway that the host dropped the subscription in between, and
   * events with it. The host may have lost the actor's shard and taken it back.
   */
  registrationOf(actor: Address): string {
    return `${this.host}/${this.#drops.get(shardOf(actor, this.#options.shardCount)) ?? 0}`;
  }

  /** Whether this gateway may subscribe to this actor, as far as is known before it does. */
  maySubscribe(actor: Address, gateway: string): boolean {
    if (this.#size < this.#subscriptionsMax) return true;
    const subscribed = this.#byActor.get(addressKey(actor));
    return subscribed?.subscriptions.some((subscription) => subscription.gateway === gateway) ?? false;
  }

  /** Extends these subscriptions, without activating any actor. Returns those that the host does not have (any more). */
  renew(actors: readonly Address[], gateway: string): Renewal {
    const untilMs = this.#options.clock.monotonicMs() + subscriptionMs;
    const lapsed: number[] = [];
    for (const [index, actor] of actors.entries()) {
      const subscribed = this.#byActor.get(addressKey(actor));
      const isThere = subscribed?.subscriptions.some((subscription) => subscription.gateway === gateway);
      if (subscribed === undefined || isThere !== true) {
        lapsed.push(index);
        continue;
      }
      const others = subscribed.subscriptions.filter((subscription) => subscription.gateway !== gateway);
      subscribed.subscriptions = [...others, { gateway, untilMs }];
    }
    return { host: this.host, sequence: this.#sent.get(gateway)?.sequence ?? 0, lapsed };
  }

  /** The actors of the events after this number. */
  missed(gateway: string, after: number): MissedEvents {
    const { sequence, actors } = this.#sent.get(gateway) ?? { sequence: 0, actors: [] };
    if (after > sequence || sequence - after > rememberedMax) return { host: this.host, actors: null };
    const missed = new Map<string, Address>();
    for (let number = after + 1; number <= sequence; number += 1) {
      const actor = actors[number % rememberedMax];
      if (actor !== undefined) missed.set(addressKey(actor), actor);
    }
    return { host: this.host, actors: [...missed.values()] };
  }

  /** Sends the signals of a turn of this actor, whose outcome may leave now. `trace`: see `HostEvent`. */
  signalled(actor: Address, signals: readonly TurnSignal[], trace?: string): void {
    for (const signal of signals) {
      if ('subscribe' in signal) this.#subscribe(actor, signal.subscribe);
      else this.#publish(actor, signal.publish, trace);
    }
  }

  dropShards(shards: ReadonlySet<number>): void {
    for (const shard of shards) this.#drops.set(shard, (this.#drops.get(shard) ?? 0) + 1);
    for (const [key, subscribed] of this.#byActor) {
      if (shards.has(subscribed.shard)) this.#keep(key, subscribed, []);
    }
  }

  stop(): void {
    this.#cancelHeartbeat?.();
    this.#cancelHeartbeat = undefined;
    this.#byActor.clear();
    this.#sent.clear();
    this.#size = 0;
  }

  #subscribe(actor: Address, gateway: string): void {
    const key = addressKey(actor);
    const subscribed = this.#byActor.get(key) ?? {
      shard: shardOf(actor, this.#options.shardCount),
      subscriptions: [],
    };
    const others = subscribed.subscriptions.filter((subscription) => subscription.gateway !== gateway);
    const untilMs = this.#options.clock.monotonicMs() + subscriptionMs;
    this.#byActor.set(key, subscribed);
    this.#keep(key, subscribed, [...others, { gateway, untilMs }]);
    if (this.#cancelHeartbeat === undefined) this.#scheduleHeartbeat();
  }

  #publish(actor: Address, published: unknown, trace: string | undefined): void {
    const subscribed = this.#byActor.get(addressKey(actor));
    if (subscribed === undefined) return;
    const event: unknown = typeof published === 'function' ? published() : published;
    if (event === undefined) return;
    for (const { gateway } of subscribed.subscriptions) this.#send(gateway, actor, event, trace);
  }

  #send(gateway: string, address: Address, event: unknown, trace: string | undefined): void {
    const sent = this.#sent.get(gateway) ?? { sequence: 0, quiet: 0, actors: [] };
    this.#sent.set(gateway, sent);
    sent.sequence += 1;
    sent.quiet = 0;
    sent.actors[sent.sequence % rememberedMax] = address;
    const published = { host: this.host, sequence: sent.sequence, address, event };
    this.#options.transport.publish(gateway, trace === undefined ? published : { ...published, trace });
  }

  #keep(key: string, subscribed: SubscribedActor, subscriptions: readonly GatewaySubscription[]): void {
    this.#size += subscriptions.length - subscribed.subscriptions.length;
    subscribed.subscriptions = subscriptions;
    if (subscriptions.length === 0) this.#byActor.delete(key);
  }

  #scheduleHeartbeat(): void {
    this.#cancelHeartbeat = this.#options.clock.schedule(heartbeatMs, () => this.#heartbeat());
  }

  #heartbeat(): void {
    this.#cancelHeartbeat = undefined;
    const gateways = this.#expire();
    for (const gateway of this.#sent.keys()) if (!gateways.has(gateway)) this.#sent.delete(gateway);
    // Heartbeats that were lost while this host is cut off would not be repeated, so earlier losses would stay unnoticed.
    if (this.#options.transport.isConnected) this.#beat();
    if (gateways.size > 0) this.#scheduleHeartbeat();
  }

  #beat(): void {
    for (const [gateway, sent] of this.#sent) {
      sent.quiet += 1;
      if (!beats.includes(sent.quiet)) continue;
      const { sequence } = sent;
      this.#options.transport.publish(gateway, { host: this.host, sequence, address: noActor, event: null });
    }
  }

  /** Forgets subscriptions that were not renewed. Returns the gateways of the others. */
  #expire(): ReadonlySet<string> {
    const nowMs = this.#options.clock.monotonicMs();
    const gateways = new Set<string>();
    for (const [key, subscribed] of this.#byActor) {
      if (subscribed.subscriptions.some(({ untilMs }) => untilMs <= nowMs)) {
        this.#keep(
          key,
          subscribed,
          subscribed.subscriptions.filter(({ untilMs }) => untilMs > nowMs),
        );
      }
      for (const { gateway } of subscribed.subscriptions) gateways.add(gateway);
    }
    return gateways;
  }
}
