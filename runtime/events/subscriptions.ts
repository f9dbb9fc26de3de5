/**
 * The actors to which a gateway subscribes, and how the subscriptions are kept up.
 *
 * A gateway is subscribed to an actor once the actor's host has answered its registration. Events are best effort. After
 * anything that may have lost one, the actors concerned are registered again and reported as `repaired`. Their clients then ask
 * for what they may have missed. The causes:
 *
 *   claimed       a host took over the actor's shard: the former one can no longer publish, and may have ended between a commit
 *                 and its event
 *   moved         an event or a registration came from another host than the last registration, or the same host has dropped
 *                 the actor's shard in between
 *   gap           the numbers of a host's events have a gap: some were lost
 *   reconnected   this process was cut off, and a host has sent something meanwhile
 *   due           the host no longer knows the subscription, or for half a day there was no check whether its sessions live
 *
 * `repairs.ts` finds gaps and cuts, and the actors concerned. An actor is behind from a possible loss until it is registered
 * again. Its events meanwhile are marked, because a lost event may have removed a member.
 *
 * Registrations are repeatable. A registration that is wanted while another is in flight follows it, and covers anything that
 * the first may have missed. A gateway may be subscribed to tens of thousands of actors whose host has ended:
 *
 * - They are registered in random order. Those of one shard go in one message (`runtime/batches/batched-asks.ts`).
 * - A bounded number is in flight, so the hosts' answers set the speed. A shard whose registrations fail has one at a time in
 *   flight, which does not count among those of the others.
 * - Subscribers hear of repairs at a bounded rate, because all of their clients then sync.
 */
import { type Address, addressKey, shardOf } from '../address.ts';
import { batchMax } from '../batches/batch-answers.ts';
import { BatchedAsks } from '../batches/batched-asks.ts';
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { RepairCause, Subscribe, SubscribedActors, Subscriber } from '../events.ts';
import type { Actors } from '../handles.ts';
import { createActorsBy, Retrier } from '../host/actors.ts';
import type { Logger } from '../ports.ts';
import { type Random, shuffled } from '../random.ts';
import type { Tracer } from '../tracing.ts';
import type { Hint, HostEvent, Transport } from '../transport/transport.ts';
import { hostOfRegistration, noActor } from './publisher.ts';
import { Repairs } from './repairs.ts';
import { type ActorSubscription, RegistrationQueue, SubscriptionIndex } from './subscription-index.ts';

export interface SubscriptionsOptions extends Subscriber {
  readonly transport: Pick<Transport, 'listen' | 'ask' | 'reachesOthers'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly shardCount: number;
  readonly tracer?: Tracer | undefined;
}

/** The part that subscribers do not see. */
export const createSubscribe =
  (ports: Omit<SubscriptionsOptions, keyof Subscriber>): Subscribe =>
  (subscriber) => {
    const subscriptions = new Subscriptions({ ...ports, ...subscriber });
    subscriptions.start();
    return subscriptions;
  };

/** Hosts stop publishing to a gateway after fifteen minutes. */
export const dueMaxMs = 570_000;
const checkMs = 15_000;
/** A registration lasts no longer than this, because a host of another release may not say when sessions end. */
const registeredMaxMs = 43_200_000;
/** Registrations in flight: eight full messages. */
const registeringMax = 8 * batchMax;
const registeringOfShardMax = batchMax;
/** Subscribers that register bound their asks themselves. */
const askMs = 5_000;
const tickMs = 20;
/** Repairs reported in one tick: a thousand in a second. */
const notifiedPerTickMax = 20;
/** The first of many registrations wait up to this long, because other gateways make the same ones. */
const spreadMaxMs = 1_000;
const failedPauseMs = 1_000;
const never = Number.POSITIVE_INFINITY;

export class Subscriptions implements SubscribedActors {
  readonly #options: SubscriptionsOptions;
  readonly #index = new SubscriptionIndex();
  readonly #repairs: Repairs;
  readonly #actors: Actors;
  readonly #queue = new RegistrationQueue();
  readonly #failed = new Set<ActorSubscription>();
  /** Registered again, but not yet reported to their subscribers. */
  readonly #repaired = new Set<ActorSubscription>();
  readonly #cancels = new Map<'listen' | 'check' | 'tick' | 'retry' | 'tell', () => void>();
  /** Registrations in flight, by shard. */
  readonly #registering = new Map<number, number>();
  /** Shards whose last registration failed. */
  readonly #failing = new Set<number>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    const { gateway, transport, clock, random, metrics } = options;
    const asks = new BatchedAsks({ ...options, retrier: new Retrier(options) });
    this.#actors = createActorsBy(asks, { clock, random, defaultDeadlineMs: askMs });
    this.#repairs = new Repairs({
      gateway,
      transport,
      clock,
      random,
      metrics,
      index: this.#index,
      want: (cause, concerned) => this.#want(cause, concerned),
      nextDueMs: () => this.#nextTimes().dueMs,
    });
  }

  start(): void {
    const { transport, gateway } = this.#options;
    const stop = transport.listen(gateway, {
      event: (event) => this.#event(event),
      hinted: (hint) => this.#hinted(hint),
      reconnected: () => this.#repairs.reconnected(),
    });
    this.#cancels.set('listen', stop);
    this.#schedule('check', checkMs, () => this.#checkDue());
  }

  stop(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#repairs.stop();
    this.#index.clear();
    this.#queue.clear();
    this.#failed.clear();
    this.#repaired.clear();
  }

  /** The number of actors with a subscription. */
  get size(): number {
    return this.#index.size;
  }

  /** Registrations that wait, for metrics. */
  get waiting(): number {
    return this.#queue.size + this.#failed.size;
  }

  /** Call this before the first registration, so that nothing that concerns it is missed. */
  add(actor: Address): void {
    if (this.#index.get(actor) !== undefined) return;
    const shard = shardOf(actor, this.#options.shardCount);
    const state = {
      host: undefined,
      registration: undefined,
      endsMs: never,
      repairCause: undefined,
      isRegistering: false,
      isBehind: false,
    };
    this.#index.add({ key: addressKey(actor), actor, shard, ...state, ...this.#nextTimes() });
  }

  /** A registration by another part of the gateway has subscribed it to the actor. */
  registered(actor: Address, registration: string): void {
    const subscription = this.#index.get(actor);
    if (subscription === undefined) return;
    const before = subscription.registration;
    this.#note(subscription, registration);
    if (before !== undefined && before !== registration) this.#want('moved', [subscription]);
  }

  endsWithin(actor: Address, ms: number): void {
    const subscription = this.#index.get(actor);
    if (subscription === undefined) return;
    subscription.endsMs = Math.min(subscription.endsMs, this.#options.clock.monotonicMs() + ms);
  }

  failed(actor: Address, error: unknown): void {
    const subscription = this.#index.get(actor);
    if (subscription !== undefined) this.#registrationFailed(subscription, error);
  }

  remove(actor: Address): void {
    const subscription = this.#index.get(actor);
    if (subscription === undefined) return;
    this.#index.remove(subscription);
    this.#queue.delete(subscription);
    this.#failed.delete(subscription);
    this.#repaired.delete(subscription);
  }

  // --- what may have lost an event ---------------------------------------------------------------------------

  #event({ host, sequence, address, event, trace }: HostEvent): void {
    const isHeartbeat = address.kind === noActor.kind;
    this.#repairs.heard(host, sequence, isHeartbeat);
    if (isHeartbeat) return;
    this.#options.metrics.received();
    const subscription = this.#index.get(address);
    if (subscription === undefined) return;
    if (subscription.host !== undefined && subscription.host !== host) this.#want('moved', [subscription]);
    else this.#repairs.sent(host, subscription);
    const span = trace === undefined ? undefined : this.#options.tracer?.continued(trace, 'notice');
    this.#options.event(address, event, subscription.isBehind);
    span?.end();
  }

  #hinted(hint: Hint): void {
    if (hint.hint !== 'claimed') return;
    this.#want(
      'claimed',
      hint.shards.flatMap((shard) => this.#index.ofShard(shard)),
    );
  }

  #checkDue(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#want(
      'due',
      this.#index.where(({ checkMs, endsMs }) => checkMs <= nowMs || endsMs <= nowMs),
    );
    this.#repairs.check();
    this.#schedule('check', checkMs, () => this.#checkDue());
  }

  // --- registering anew --------------------------------------------------------------------------------------

  #want(cause: RepairCause, concerned: readonly ActorSubscription[]): void {
    const { random } = this.#options;
    const isIdle = this.#queue.size === 0;
    for (const subscription of shuffled(concerned, random)) {
      subscription.repairCause = cause;
      subscription.isBehind = true;
      // A subscription that is being registered comes back here after the answer.
      if (!subscription.isRegistering) this.#queue.add(subscription);
    }
    if (this.#queue.size === 0 || !isIdle) return;
    this.#schedule('tick', Math.min(spreadMaxMs, concerned.length) * random.fraction(), () => this.#tick());
  }

  #tick(): void {
    let capacity = registeringMax - this.#inFlight;
    for (const shard of this.#queue.shards) {
      const isFailing = this.#failing.has(shard);
      const capacityOfShard = (isFailing ? 1 : registeringOfShardMax) - (this.#registering.get(shard) ?? 0);
      const batch = this.#queue.take(
        shard,
        isFailing ? capacityOfShard : Math.min(capacityOfShard, capacity),
      );
      if (!isFailing) capacity -= batch.length;
      for (const subscription of batch) void this.#register(subscription);
    }
    if (this.#queue.size > 0) this.#schedule('tick', tickMs, () => this.#tick());
  }

  /** Registrations in flight, without those for which others must not wait. */
  get #inFlight(): number {
    let inFlight = 0;
    for (const [shard, count] of this.#registering) if (!this.#failing.has(shard)) inFlight += count;
    return inFlight;
  }

  #begun(shard: number, count: 1 | -1): void {
    const inFlight = (this.#registering.get(shard) ?? 0) + count;
    if (inFlight === 0) this.#registering.delete(shard);
    else this.#registering.set(shard, inFlight);
  }

  async #register(subscription: ActorSubscription): Promise<void> {
    const { register, metrics } = this.#options;
    const cause = subscription.repairCause ?? 'due';
    subscription.repairCause = undefined;
    subscription.isRegistering = true;
    subscription.endsMs = never;
    this.#begun(subscription.shard, 1);
    try {
      const registration = await register(subscription.actor, this.#actors);
      this.#failing.delete(subscription.shard);
      subscription.isBehind = subscription.repairCause !== undefined;
      if (registration === undefined || !this.#index.has(subscription)) return;
      this.#note(subscription, registration);
      metrics.repaired(cause);
      this.#repaired.add(subscription);
      if (!this.#cancels.has('tell')) this.#reportRepaired();
    } catch (error) {
      this.#failing.add(subscription.shard);
      this.#registrationFailed(subscription, error);
    } finally {
      this.#begun(subscription.shard, -1);
      subscription.isRegistering = false;
      if (subscription.repairCause !== undefined && this.#index.has(subscription)) {
        this.#want(subscription.repairCause, [subscription]);
      }
    }
  }

  #reportRepaired(): void {
    for (const subscription of [...this.#repaired].slice(0, notifiedPerTickMax)) {
      this.#repaired.delete(subscription);
      this.#options.repaired(subscription.actor);
    }
    this.#schedule('tell', tickMs, () => {
      this.#cancels.delete('tell');
      if (this.#repaired.size > 0) this.#reportRepaired();
    });
  }

  /** By then the retrier has asked many times (`runtime/host/actors.ts`). It begins again after a pause. */
  #registrationFailed(subscription: ActorSubscription, error: unknown): void {
    const { logger, random } = this.#options;
    if (!this.#index.has(subscription)) return;
    const isFirst = this.#failed.size === 0;
    this.#failed.add(subscription);
    if (!isFirst) return;
    logger.warn({ error: messageOf(error) }, 'registrations at actors fail');
    this.#schedule('retry', failedPauseMs * (1 + random.fraction()), () => {
      const failed = [...this.#failed];
      this.#failed.clear();
      this.#want('failed', failed);
    });
  }

  #note(subscription: ActorSubscription, registration: string): void {
    subscription.registration = registration;
    subscription.host = hostOfRegistration(registration);
    Object.assign(subscription, this.#nextTimes());
  }

  /** Spreads the times, so that subscriptions that came together do not stay together. */
  #nextTimes(): Pick<ActorSubscription, 'dueMs' | 'checkMs'> {
    const { clock, random } = this.#options;
    const nowMs = clock.monotonicMs();
    const part = 0.8 + 0.2 * random.fraction();
    return { dueMs: nowMs + dueMaxMs * part, checkMs: nowMs + registeredMaxMs * part };
  }

  #schedule(what: 'check' | 'tick' | 'retry' | 'tell', delayMs: number, fire: () => void): void {
    this.#cancels.get(what)?.();
    this.#cancels.set(what, this.#options.clock.schedule(delayMs, fire));
  }
}
