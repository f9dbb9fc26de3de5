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
 *   gap           the numbers of a host's events have a gap: some were lost
 *   reconnected   this process was cut off, and a host has sent something meanwhile
 *   due           the host does not know of the subscription any more, or for half a day nobody has asked whether its
 *                 sessions live
 *
 * After a gap or a cut the host is asked which actors the lost events were of. Only if it no longer knows, or cannot be
 * asked, is every actor of that host registered again.
 *
 * As long as nothing is lost, subscriptions cost next to nothing: every ten minutes they are renewed, those of a shard by
 * one question at its host, which wakes no actor and touches no database. Its answer says also whether what the hints
 * say was missed. After a cut all are renewed, spread over a time that grows with the number of hosts.
 *
 * Registrations are repeatable, so one that is wanted while another is in flight is simply made after it: what it may
 * have missed then, the later one has not. They are made in random order, a bounded number at a time and in a second,
 * as a gateway may be subscribed to tens of thousands of actors whose host has ended. A shard whose registrations fail has
 * one at a time in flight, and none of it counts among those of the others.
 */
import { type Address, addressKey, shardOf } from '../address.ts';
import type { Clock } from '../clock.ts';
import { ActorError, messageOf } from '../errors.ts';
import type { RepairCause, Subscribe, SubscribedActors, Subscriber } from '../events.ts';
import type { Logger } from '../ports.ts';
import type { Random } from '../random.ts';
import type { Hint, HostEvent, Transport } from '../transport/transport.ts';
import { missedSchema, nobody, renewalSchema } from './publisher.ts';

export interface SubscriptionsOptions extends Subscriber {
  readonly transport: Pick<Transport, 'listen' | 'ask'>;
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
  /** When it is renewed at the latest. */
  dueMs: number;
  /** When it is registered anew at the latest. */
  checkMs: number;
  /** Why it waits to be registered anew. */
  wanted: RepairCause | undefined;
  isRegistering: boolean;
}

interface Heard {
  /** The number of the last event. */
  last: number;
  atMs: number;
}

/** Hosts stop publishing to a gateway after fifteen minutes. */
export const dueMaxMs = 570_000;
const checkMs = 15_000;
/** A host that has not even sent a heartbeat for this long no longer publishes. */
const silentMaxMs = 600_000;
/** A question names so many subscriptions at most, and so many questions are in flight. */
const renewedMax = 500;
const renewingMax = 8;
const questionMs = 5_000;
/** For each host the renewals after a cut may take so much longer, as all gateways were cut off at once. */
const spreadPerHostMs = 50;
/** Sessions end by time, too, and nobody publishes that. */
const registeredMaxMs = 43_200_000;
const registeringMax = 64;
const registeringOfShardMax = 16;
const tickMs = 20;
/** Registrations begun in one tick: a thousand in a second. */
const perTickMax = 20;
/** The first of many registrations wait for up to this long, as other gateways have the same ones to make. */
const spreadMaxMs = 1_000;
const failedPauseMs = 1_000;
/** Those of a shard that is full go to the end of the queue. */
const triedPerTickMax = 500;

export class Subscriptions implements SubscribedActors {
  readonly #options: SubscriptionsOptions;
  readonly #byActor = new Map<string, Subscription>();
  readonly #byShard = new Map<number, Set<Subscription>>();
  readonly #heard = new Map<string, Heard>();
  readonly #queue = new Set<Subscription>();
  readonly #failed = new Set<Subscription>();
  readonly #cancels = new Map<'listen' | 'check' | 'tick' | 'retry' | 'renew', () => void>();
  /** Registrations in flight, by shard. */
  readonly #registering = new Map<number, number>();
  /** Shards of which the last registration failed. */
  readonly #failing = new Set<number>();
  /** Shards to be renewed next. */
  readonly #stale = new Set<number>();
  #renewing = 0;
  #wasCut = false;

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
    this.#byShard.clear();
    this.#queue.clear();
    this.#failed.clear();
    this.#stale.clear();
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
    const state = { host: undefined, ...this.#nextTimes(), wanted: undefined, isRegistering: false };
    const subscription: Subscription = { key, actor, shard, ...state };
    this.#byActor.set(key, subscription);
    const ofShard = this.#byShard.get(shard) ?? new Set();
    this.#byShard.set(shard, ofShard.add(subscription));
  }

  /** This gateway was subscribed to the actor by a registration that was not made from here. */
  registered(actor: Address, host: string): void {
    const subscription = this.#byActor.get(addressKey(actor));
    if (subscription === undefined) return;
    const before = subscription.host;
    this.#note(subscription, host);
    if (before !== undefined && before !== host) this.#want('moved', [subscription]);
  }

  failed(actor: Address, error: unknown): void {
    const subscription = this.#byActor.get(addressKey(actor));
    if (subscription !== undefined) this.#registrationFailed(subscription, error);
  }

  remove(actor: Address): void {
    const subscription = this.#byActor.get(addressKey(actor));
    if (subscription === undefined) return;
    this.#byActor.delete(subscription.key);
    this.#dropFromShard(subscription);
    this.#queue.delete(subscription);
    this.#failed.delete(subscription);
  }

  #dropFromShard(subscription: Subscription): void {
    const ofShard = this.#byShard.get(subscription.shard);
    ofShard?.delete(subscription);
    if (ofShard?.size === 0) this.#byShard.delete(subscription.shard);
  }

  // --- what may have lost an event ---------------------------------------------------------------------------

  #event({ host, sequence, address, event }: HostEvent): void {
    const isHeartbeat = address.kind === nobody.kind;
    this.#count(host, sequence, isHeartbeat);
    if (isHeartbeat) return;
    this.#options.metrics.received();
    const subscription = this.#byActor.get(addressKey(address));
    if (subscription === undefined) return;
    if (subscription.host !== undefined && subscription.host !== host) this.#want('moved', [subscription]);
    this.#options.event(address, event);
  }

  #count(host: string, sequence: number, isHeartbeat: boolean): void {
    const last = this.#heard.get(host)?.last ?? 0;
    this.#heard.set(host, { last: sequence, atMs: this.#options.clock.monotonicMs() });
    const first = isHeartbeat ? sequence : sequence - 1;
    if (first === last) return;
    this.#options.metrics.gap();
    void this.#repair('gap', host, last);
  }

  /** Registers the actors again of which an event after this number was lost, or all actors of this host. */
  async #repair(cause: RepairCause, host: string, after: number): Promise<void> {
    const concerned = this.#where((subscription) => subscription.host === host);
    const [any] = concerned;
    if (any === undefined) return;
    const missed = await this.#missed(host, after, any.actor);
    this.#want(cause, missed ?? this.#where((subscription) => subscription.host === host));
  }

  /** Undefined: this host cannot tell. */
  async #missed(host: string, after: number, address: Address): Promise<readonly Subscription[] | undefined> {
    const { transport, gateway, clock, random } = this.#options;
    try {
      const answer = await transport.ask({
        address,
        command: '$missed',
        request: { gateway, after },
        callId: random.uuid(),
        deadlineMs: clock.monotonicMs() + questionMs,
      });
      const { host: answering, actors } = missedSchema.parse(answer);
      if (answering !== host || actors === null) return undefined;
      return actors.flatMap((actor) => this.#byActor.get(addressKey(actor)) ?? []);
    } catch (error) {
      if (!(error instanceof ActorError)) throw error;
      return undefined;
    }
  }

  #hinted(hint: Hint): void {
    if (hint.hint !== 'claimed') return;
    this.#want(
      'claimed',
      hint.shards.flatMap((shard) => this.#ofShard(shard)),
    );
  }

  #reconnected(): void {
    for (const shard of this.#byShard.keys()) this.#stale.add(shard);
    this.#wasCut = true;
    const hosts = new Set([...this.#byActor.values()].map(({ host }) => host)).size;
    this.#schedule('renew', spreadPerHostMs * hosts * this.#options.random.fraction(), () =>
      this.#renewNext(),
    );
  }

  #checkDue(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#want(
      'due',
      this.#where(({ checkMs }) => checkMs <= nowMs),
    );
    for (const { shard, dueMs } of this.#byActor.values()) if (dueMs <= nowMs) this.#stale.add(shard);
    this.#renewNext();
    for (const [host, { atMs }] of this.#heard) if (nowMs - atMs > silentMaxMs) this.#heard.delete(host);
    this.#schedule('check', checkMs, () => this.#checkDue());
  }

  #where(concerns: (subscription: Subscription) => boolean): Subscription[] {
    return [...this.#byActor.values()].filter(concerns);
  }

  #ofShard(shard: number): readonly Subscription[] {
    return [...(this.#byShard.get(shard) ?? [])];
  }

  // --- renewing --------------------------------------------------------------------------------------------

  #renewNext(): void {
    for (const shard of this.#stale) {
      if (this.#renewing >= renewingMax) return;
      this.#stale.delete(shard);
      this.#renewing += 1;
      void this.#renewShard(shard).finally(() => {
        this.#renewing -= 1;
        this.#renewNext();
      });
    }
    if (this.#renewing === 0) this.#wasCut = false;
  }

  /** What cannot be renewed now is due still, and is tried again by the next check. */
  async #renewShard(shard: number): Promise<void> {
    const subscriptions = this.#ofShard(shard).filter(({ host }) => host !== undefined);
    for (let at = 0; at < subscriptions.length; at += renewedMax) {
      try {
        await this.#renew(subscriptions.slice(at, at + renewedMax));
      } catch (error) {
        if (!(error instanceof ActorError)) throw error;
        const nowMs = this.#options.clock.monotonicMs();
        for (const subscription of subscriptions) subscription.dueMs = nowMs;
        return;
      }
    }
  }

  async #renew(subscriptions: readonly Subscription[]): Promise<void> {
    const { transport, gateway, clock, random } = this.#options;
    const [first] = subscriptions;
    if (first === undefined) return;
    const answer = await transport.ask({
      address: first.actor,
      command: '$renew',
      request: { gateway, actors: subscriptions.map(({ actor }) => actor) },
      callId: random.uuid(),
      deadlineMs: clock.monotonicMs() + questionMs,
    });
    const { host, sequence, lapsed } = renewalSchema.parse(answer);
    if (this.#wasCut) this.#catchUp(host, sequence);
    const { dueMs } = this.#nextTimes();
    const gone = new Set(lapsed);
    for (const [index, subscription] of subscriptions.entries()) {
      if (this.#byActor.get(subscription.key) !== subscription) continue;
      if (subscription.host !== host || gone.has(index)) this.#want('due', [subscription]);
      else subscription.dueMs = dueMs;
    }
  }

  /** Whether the host has sent what never arrived. */
  #catchUp(host: string, sequence: number): void {
    const last = this.#heard.get(host)?.last ?? 0;
    if (last >= sequence) return;
    this.#heard.set(host, { last: sequence, atMs: this.#options.clock.monotonicMs() });
    void this.#repair('reconnected', host, last);
  }

  // --- registering anew --------------------------------------------------------------------------------------

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
    for (const subscription of [...this.#queue].slice(0, triedPerTickMax)) {
      if (begun >= perTickMax || this.#inFlight >= registeringMax) break;
      this.#queue.delete(subscription);
      if (this.#isFull(subscription.shard)) {
        this.#queue.add(subscription);
        continue;
      }
      begun += 1;
      void this.#register(subscription);
    }
    if (this.#queue.size > 0) this.#schedule('tick', tickMs, () => this.#tick());
  }

  /** Registrations in flight, without those that others are not to wait for. */
  get #inFlight(): number {
    let inFlight = 0;
    for (const [shard, count] of this.#registering) if (!this.#failing.has(shard)) inFlight += count;
    return inFlight;
  }

  #isFull(shard: number): boolean {
    return (this.#registering.get(shard) ?? 0) >= (this.#failing.has(shard) ? 1 : registeringOfShardMax);
  }

  #begun(shard: number, count: 1 | -1): void {
    const inFlight = (this.#registering.get(shard) ?? 0) + count;
    if (inFlight === 0) this.#registering.delete(shard);
    else this.#registering.set(shard, inFlight);
  }

  async #register(subscription: Subscription): Promise<void> {
    const { register, repaired, metrics } = this.#options;
    const cause = subscription.wanted ?? 'due';
    subscription.wanted = undefined;
    subscription.isRegistering = true;
    this.#begun(subscription.shard, 1);
    try {
      const host = await register(subscription.actor);
      this.#failing.delete(subscription.shard);
      if (host === undefined || this.#byActor.get(subscription.key) !== subscription) return;
      this.#note(subscription, host);
      metrics.repaired(cause);
      repaired(subscription.actor);
    } catch (error) {
      this.#failing.add(subscription.shard);
      this.#registrationFailed(subscription, error);
    } finally {
      this.#begun(subscription.shard, -1);
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
    Object.assign(subscription, this.#nextTimes());
  }

  /** Apart from each other, whatever brought them together. */
  #nextTimes(): Pick<Subscription, 'dueMs' | 'checkMs'> {
    const { clock, random } = this.#options;
    const nowMs = clock.monotonicMs();
    const part = 0.8 + 0.2 * random.fraction();
    return { dueMs: nowMs + dueMaxMs * part, checkMs: nowMs + registeredMaxMs * part };
  }

  #schedule(what: 'check' | 'tick' | 'retry' | 'renew', delayMs: number, fire: () => void): void {
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
