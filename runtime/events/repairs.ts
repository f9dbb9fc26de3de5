/**
 * How a gateway finds out that it has lost events of a host, and of which actors.
 *
 *     trusted --gap in the numbers, or a renewal that names more than came--> in question --its answer--> trusted
 *
 * - The gateway asks a host in question for the actors of the lost events. Those actors are behind. If the host cannot tell,
 *   all of its actors are behind.
 * - The actors of events that a host in question sends are behind, too. A lost event may forbid what such an event tells, as
 *   when it removed a member.
 * - Subscriptions are renewed every ten minutes. One question renews those of a shard, and wakes no actor. The answers show
 *   whether the last events of a host never came. After this process was cut off, all are renewed.
 *
 * A crash loses all of this, and the sockets that it served.
 */

import type { Clock } from '../clock.ts';
import { ActorError } from '../errors.ts';
import type { RepairCause, SubscriptionMetrics } from '../events.ts';
import type { Random } from '../random.ts';
import type { Transport } from '../transport/transport.ts';
import { missedSchema, renewalSchema, subscriptionMs } from './publisher.ts';
import type { ActorSubscription, SubscriptionIndex } from './subscription-index.ts';

export interface RepairsOptions {
  readonly gateway: string;
  readonly transport: Pick<Transport, 'ask'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Pick<SubscriptionMetrics, 'gap'>;
  readonly index: SubscriptionIndex;
  /** Asks for a new registration of these subscriptions. */
  readonly want: (cause: RepairCause, concerned: readonly ActorSubscription[]) => void;
  /** When a renewed subscription is due again. */
  readonly nextDueMs: () => number;
}

interface LastEvent {
  /** The number of the last event. */
  last: number;
  atMs: number;
}

/** What a host was asked about missed events. */
interface RepairQuestion {
  inFlight: number;
  /** The actors of events that it has sent since then. */
  readonly sentMeanwhile: Set<ActorSubscription>;
}

/** A host that has not answered even a renewal for this long has let all subscriptions of this gateway expire. */
const silentMaxMs = subscriptionMs;
/** The most subscriptions in a question, and the most questions in flight. */
const renewedMax = 500;
const renewingMax = 8;
const questionMs = 5_000;
/** After a cut the renewals may take this much longer for each host, because all gateways were cut off at once. */
const spreadPerHostMs = 50;

export class Repairs {
  readonly #options: RepairsOptions;
  readonly #heard = new Map<string, LastEvent>();
  /** The hosts that are being asked about missed events. */
  readonly #questions = new Map<string, RepairQuestion>();
  /** Shards to be renewed next. */
  readonly #stale = new Set<number>();
  #renewing = 0;
  #wasCut = false;
  #cancel = () => {};

  constructor(options: RepairsOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#cancel();
    this.#stale.clear();
  }

  /** The host has sent an event of this actor. */
  sent(host: string, subscription: ActorSubscription): void {
    const question = this.#questions.get(host);
    if (question === undefined) return;
    subscription.isBehind = true;
    question.sentMeanwhile.add(subscription);
  }

  /** A host has sent its event with this number, or a heartbeat that repeats it. */
  heard(host: string, sequence: number, isHeartbeat: boolean): void {
    const last = this.#lastOf(host);
    this.#note(host, sequence);
    const first = isHeartbeat ? sequence : sequence - 1;
    if (first === last) return;
    this.#options.metrics.gap();
    void this.#ask('gap', host, last);
  }

  /** This process was cut off, and is connected again. */
  reconnected(): void {
    const { index, clock, random } = this.#options;
    for (const shard of index.shards) this.#stale.add(shard);
    this.#wasCut = true;
    const hosts = new Set([...index.all].map(({ host }) => host)).size;
    this.#cancel();
    this.#cancel = clock.schedule(spreadPerHostMs * hosts * random.fraction(), () => this.#renewNext());
  }

  /** Renews due subscriptions, and forgets silent hosts. */
  check(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const { shard, dueMs } of this.#options.index.all) if (dueMs <= nowMs) this.#stale.add(shard);
    this.#renewNext();
    for (const [host, { atMs }] of this.#heard) if (nowMs - atMs > silentMaxMs) this.#heard.delete(host);
  }

  #lastOf(host: string): number {
    return this.#heard.get(host)?.last ?? 0;
  }

  #note(host: string, last: number): void {
    this.#heard.set(host, { last, atMs: this.#options.clock.monotonicMs() });
  }

  // --- what was missed -----------------------------------------------------------------------------------------

  /** Has the actors of lost events after this number registered again, or all actors of this host. */
  async #ask(cause: RepairCause, host: string, after: number): Promise<void> {
    const { index, want } = this.#options;
    const any = index.anyOf(host);
    if (any === undefined) return;
    const question = this.#questions.get(host) ?? { inFlight: 0, sentMeanwhile: new Set() };
    this.#questions.set(host, question);
    question.inFlight += 1;
    const missed = await this.#missed(host, after, any);
    question.inFlight -= 1;
    const concerned = new Set(missed ?? index.where((subscription) => subscription.host === host));
    if (question.inFlight === 0) {
      this.#questions.delete(host);
      for (const subscription of question.sentMeanwhile) concerned.add(subscription);
    }
    want(
      cause,
      [...concerned].filter((subscription) => index.has(subscription)),
    );
  }

  /** Undefined if this host cannot tell. */
  async #missed(
    host: string,
    after: number,
    { actor: address }: ActorSubscription,
  ): Promise<readonly ActorSubscription[] | undefined> {
    const { transport, gateway, clock, random, index } = this.#options;
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
      return actors.flatMap((actor) => index.get(actor) ?? []);
    } catch (error) {
      if (!(error instanceof ActorError)) throw error;
      return undefined;
    }
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

  /** Subscriptions that cannot be renewed now stay due. The next check tries them again. */
  async #renewShard(shard: number): Promise<void> {
    const { index, clock } = this.#options;
    const subscriptions = index.ofShard(shard).filter(({ host }) => host !== undefined);
    for (let at = 0; at < subscriptions.length; at += renewedMax) {
      try {
        await this.#renew(subscriptions.slice(at, at + renewedMax));
      } catch (error) {
        if (!(error instanceof ActorError)) throw error;
        const nowMs = clock.monotonicMs();
        for (const subscription of subscriptions) subscription.dueMs = nowMs;
        return;
      }
    }
  }

  async #renew(subscriptions: readonly ActorSubscription[]): Promise<void> {
    const { transport, gateway, clock, random, index, want, nextDueMs } = this.#options;
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
    this.#catchUp(host, sequence);
    const dueMs = nextDueMs();
    const gone = new Set(lapsed);
    for (const [position, subscription] of subscriptions.entries()) {
      if (!index.has(subscription)) continue;
      if (subscription.host !== host || gone.has(position)) want('due', [subscription]);
      else subscription.dueMs = dueMs;
    }
  }

  /** Finds out whether the host has sent events that never arrived. */
  #catchUp(host: string, sequence: number): void {
    const last = this.#lastOf(host);
    this.#note(host, Math.max(last, sequence));
    if (last >= sequence) return;
    if (!this.#wasCut) this.#options.metrics.gap();
    void this.#ask(this.#wasCut ? 'reconnected' : 'gap', host, last);
  }
}
