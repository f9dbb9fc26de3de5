/**
 * The actors that a gateway is subscribed to, and what keeps it so.
 *
 * A gateway is subscribed to an actor once the actor's host has answered its registration. Events are best effort, so
 * after anything that may have lost one the actors concerned are registered again and reported as `repaired`: their
 * clients then ask for what they may have missed. That is the case when
 *
 *   claimed       a host took over the actor's shard: the former one can no longer publish, and may have ended
 *                 between a commit and its event
 *   moved         an event or a registration came from another host than the last registration
 *   gap           the numbers of a host's events have a gap: one was lost, of any actor at that host
 *   reconnected   this process was cut off
 *   due           nothing of this happened for ten minutes; hints may be lost too
 *
 * Registrations are repeatable, so one that is wanted while another is in flight is simply made after it: what it may
 * have missed then, the later one has not. They are made in random order, a bounded number at a time and in a second,
 * as a gateway may be subscribed to tens of thousands of actors whose host has ended.
 */
import { type Address, addressKey, shardOf } from '../address.ts';
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { RepairCause, Subscribe, SubscribedActors, Subscriber } from '../events.ts';
import type { Logger } from '../ports.ts';
import type { Random } from '../random.ts';
import type { Hint, HostEvent, Transport } from '../transport/transport.ts';
import { nobody } from './publisher.ts';

export interface SubscriptionsOptions extends Subscriber {
  readonly transport: Pick<Transport, 'listen'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly shardCount: number;
}

/** What subscribers do not see. */
export const createSubscribe =
  (ports: Omit<SubscriptionsOptions, keyof Subscriber>): Subscribe =>
  (subscriber) => {
    const subscriptions = new Subscriptions({ ...ports, ...subscriber });
    subscriptions.start();
    return subscriptions;
  };

interface Subscription {
  readonly key: string;
  readonly actor: Address;
  readonly shard: number;
  /** The incarnation that answered the last registration. */
  host: string | undefined;
  /** When it is registered again at the latest. */
  dueMs: number;
  /** Why it waits to be registered again. */
  wanted: RepairCause | undefined;
  isRegistering: boolean;
}

interface Heard {
  /** The number of the last event. */
  last: number;
  atMs: number;
}

/** Hosts stop publishing to a gateway after fifteen minutes. */
const dueMaxMs = 570_000;
const checkMs = 15_000;
/** A host that has not even sent a heartbeat for this long no longer publishes. */
const silentMaxMs = 600_000;
const registeringMax = 64;
const tickMs = 20;
/** Registrations begun in one tick: a thousand in a second. */
const perTickMax = 20;
/** The first of many registrations wait for up to this long, as other gateways have the same ones to make. */
const spreadMaxMs = 1_000;
const failedPauseMs = 1_000;
/** In place of a number: any number may come next. */
const anyNext = -1;

export class Subscriptions implements SubscribedActors {
  readonly #options: SubscriptionsOptions;
  readonly #byActor = new Map<string, Subscription>();
  readonly #heard = new Map<string, Heard>();
  readonly #queue = new Set<Subscription>();
  readonly #failed = new Set<Subscription>();
  readonly #cancels = new Map<'listen' | 'check' | 'tick' | 'retry', () => void>();
  #registering = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  start(): void {
    const { transport, gateway } = this.#options;
    const stop = transport.listen(gateway, {
      event: (event) => this.#event(event),
      hinted: (hint) => this.#hinted(hint),
      reconnected: () => this.#reconnected(),
    });
    this.#cancels.set('listen', stop);
    this.#schedule('check', checkMs, () => this.#checkDue());
  }

  stop(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#byActor.clear();
    this.#queue.clear();
    this.#failed.clear();
  }

  /** Actors that are subscribed to. */
  get size(): number {
    return this.#byActor.size;
  }

  /** Registrations that wait, for metrics. */
  get waiting(): number {
    return this.#queue.size + this.#failed.size;
  }

  /** To be called before the first registration is made, so that nothing that concerns it is missed. */
  add(actor: Address): void {
    const key = addressKey(actor);
    if (this.#byActor.has(key)) return;
    const shard = shardOf(actor, this.#options.shardCount);
    const state = { host: undefined, dueMs: this.#nextDueMs(), wanted: undefined, isRegistering: false };
    this.#byActor.set(key, { key, actor, shard, ...state });
  }

  /** This gateway was subscribed to the actor by a registration that was not made from here. */
  registered(actor: Address, host: string): void {
    const subscription = this.#byActor.get(addressKey(actor));
    if (subscription === undefined) return;
    const before = subscription.host;
    this.#note(subscription, host);
    if (before !== undefined && before !== host) this.#want('moved', [subscription]);
  }

  remove(actor: Address): void {
    const subscription = this.#byActor.get(addressKey(actor));
    if (subscription === undefined) return;
    this.#byActor.delete(subscription.key);
    this.#queue.delete(subscription);
    this.#failed.delete(subscription);
  }

  // --- what may have lost an event ---------------------------------------------------------------------------

  #event({ host, sequence, address, event }: HostEvent): void {
    const { metrics } = this.#options;
    this.#count(host, sequence);
    if (address.kind === nobody.kind) return;
    metrics.received();
    const subscription = this.#byActor.get(addressKey(address));
    if (subscription === undefined) return;
    if (subscription.host !== undefined && subscription.host !== host) this.#want('moved', [subscription]);
    this.#options.event(address, event);
  }

  #count(host: string, sequence: number): void {
    const atMs = this.#options.clock.monotonicMs();
    const heard = this.#heard.get(host);
    this.#heard.set(host, { last: sequence, atMs });
    const last = heard?.last ?? 0;
    if (last === anyNext || sequence === last + 1) return;
    this.#options.metrics.gap();
    this.#want(
      'gap',
      this.#where((subscription) => subscription.host === host),
    );
  }

  #hinted(hint: Hint): void {
    if (hint.hint !== 'claimed') return;
    const shards = new Set(hint.shards);
    this.#want(
      'claimed',
      this.#where(({ shard }) => shards.has(shard)),
    );
  }

  /** Every actor is registered again, so gaps that show only now say nothing. */
  #reconnected(): void {
    for (const heard of this.#heard.values()) heard.last = anyNext;
    this.#want('reconnected', [...this.#byActor.values()]);
  }

  #checkDue(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#want(
      'due',
      this.#where(({ dueMs }) => dueMs <= nowMs),
    );
    for (const [host, { atMs }] of this.#heard) if (nowMs - atMs > silentMaxMs) this.#heard.delete(host);
    this.#schedule('check', checkMs, () => this.#checkDue());
  }

  #where(concerns: (subscription: Subscription) => boolean): Subscription[] {
    return [...this.#byActor.values()].filter(concerns);
  }

  // --- registering again --------------------------------------------------------------------------------------

  #want(cause: RepairCause, concerned: readonly Subscription[]): void {
    const { random } = this.#options;
    const isIdle = this.#queue.size === 0;
    for (const subscription of shuffled(concerned, random)) {
      subscription.wanted = cause;
      // One that is being registered comes back here when that was answered.
      if (!subscription.isRegistering) this.#queue.add(subscription);
    }
    if (this.#queue.size === 0 || !isIdle) return;
    this.#schedule('tick', Math.min(spreadMaxMs, concerned.length) * random.fraction(), () => this.#tick());
  }

  #tick(): void {
    let begun = 0;
    for (const subscription of this.#queue) {
      if (begun >= perTickMax || this.#registering >= registeringMax) break;
      begun += 1;
      this.#queue.delete(subscription);
      void this.#register(subscription);
    }
    if (this.#queue.size > 0) this.#schedule('tick', tickMs, () => this.#tick());
  }

  async #register(subscription: Subscription): Promise<void> {
    const { register, repaired, metrics } = this.#options;
    const cause = subscription.wanted ?? 'due';
    subscription.wanted = undefined;
    subscription.isRegistering = true;
    this.#registering += 1;
    try {
      const host = await register(subscription.actor);
      if (host === undefined || this.#byActor.get(subscription.key) !== subscription) return;
      this.#note(subscription, host);
      metrics.repaired(cause);
      repaired(subscription.actor);
    } catch (error) {
      this.#registrationFailed(subscription, error);
    } finally {
      this.#registering -= 1;
      subscription.isRegistering = false;
      if (subscription.wanted !== undefined && this.#byActor.get(subscription.key) === subscription) {
        this.#want(subscription.wanted, [subscription]);
      }
    }
  }

  /** It has been asked for again and again by then (`runtime/host/retrier.ts`); after a pause it is begun again. */
  #registrationFailed(subscription: Subscription, error: unknown): void {
    const { logger, random } = this.#options;
    if (this.#byActor.get(subscription.key) !== subscription) return;
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

  #note(subscription: Subscription, host: string): void {
    subscription.host = host;
    subscription.dueMs = this.#nextDueMs();
  }

  /** Spread out, no matter what made them coincide. */
  #nextDueMs(): number {
    const { clock, random } = this.#options;
    return clock.monotonicMs() + dueMaxMs * (0.8 + 0.2 * random.fraction());
  }

  #schedule(what: 'check' | 'tick' | 'retry', delayMs: number, fire: () => void): void {
    this.#cancels.get(what)?.();
    this.#cancels.set(what, this.#options.clock.schedule(delayMs, fire));
  }
}

function shuffled<T>(list: readonly T[], random: Random): readonly T[] {
  const shuffling = [...list];
  for (let index = shuffling.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random.fraction() * (index + 1));
    [shuffling[index], shuffling[other]] = [shuffling[other] as T, shuffling[index] as T];
  }
  return shuffling;
}
