/**
 * The actors in memory, found by address. A bounded number of them is activated at a time. An actor whose row is locked waits
 * apart, so that it takes no slot from others.
 *
 * An actor is passivated when it has been idle for long. It is also passivated when there are too many actors, or when they
 * hold too much memory. The database has all of a passivated actor, and a message activates it again.
 */

import { type Address, shardOf } from '../address.ts';
import { type Clock, sleep } from '../clock.ts';
import { ActorError, MovedError, OverloadedError, TerminalError, UnavailableError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import type { Lease } from '../ownership/lease.ts';
import type { Semaphore } from '../semaphore.ts';
import { Actor } from './actor.ts';
import type { ActorEnvironment } from './environment.ts';
import type { Message } from './message.ts';

/** A tick checks the actors in use. While none is, only the ticks of rounds come, because each wakes an idle process. */
const tickMs = 250;
/** The time between two checks of all actors, most of which are idle. */
const roundMs = 5_000;
/** An idle actor stays too long by this part of its idle time at most. */
const roundsOfIdleTime = 60;
const lockedPauseMinMs = 25;
const lockedPauseMaxMs = 500;
/** The actor that has been idle longest among this many makes room. An exact order is not worth a list. */
const passivationSampleMax = 64;

export interface ActiveActorsOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly lease: Pick<Lease, 'isValid'>;
  readonly lockedRowSemaphore: Semaphore;
  readonly shardCount: number;
  epochOf(shard: number): number | undefined;
  environmentOf(kind: string): ActorEnvironment | undefined;
}

export class ActiveActors {
  readonly #options: ActiveActorsOptions;
  readonly #actors = new Set<Actor>();
  /** By kind and id. One text of both would have to be made for each message. */
  readonly #byKind = new Map<string, Map<string, Actor>>();
  /** The actors used since they were last found idle. The memory that the others hold does not change. */
  readonly #inUse = new Set<Actor>();
  /** The bytes that each actor held at the last check, and their sum. */
  readonly #held = new Map<Actor, number>();
  #heldBytes = 0;
  #nextRoundAtMs = Number.NEGATIVE_INFINITY;
  #lastTickAtMs = 0;
  #isResting = false;
  readonly #waitingToActivate: Actor[] = [];
  #activating = 0;
  #cancelTick: () => void = () => {};

  constructor(options: ActiveActorsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#lastTickAtMs = this.#options.clock.monotonicMs();
    this.#tickIn(tickMs);
  }

  /** Drops every actor. Waiting calls go to the next owner. */
  stop(): void {
    this.#cancelTick();
    this.#isResting = false;
    this.#waitingToActivate.length = 0;
    for (const actor of [...this.#actors]) actor.leave(moved());
  }

  /**
   * Lets the work in flight at the actors of these shards finish, within this time, and drops the actors. Calls that still wait
   * go to the next owner. Meanwhile no other actor of these shards may be activated.
   */
  async quiesce(shards: ReadonlySet<number>, withinMs: number): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + withinMs;
    const all = [...this.#actors].filter((actor) => shards.has(actor.shard));
    let busy = all.filter(isBusy);
    while (busy.length > 0 && clock.monotonicMs() < untilMs) {
      await sleep(clock, 1);
      busy = busy.filter(isBusy);
    }
    for (const actor of all) actor.leave(moved());
  }

  /** The actor of an address if it is in memory. */
  find(address: Address): Actor | undefined {
    return this.#byKind.get(address.kind)?.get(address.id);
  }

  /** The actors that have most of something, the most first. */
  first(amountOf: (actor: Actor) => number, limit: number): readonly Actor[] {
    return [...this.#actors]
      .map((actor) => ({ actor, amount: amountOf(actor) }))
      .toSorted((a, b) => b.amount - a.amount)
      .slice(0, limit)
      .map(({ actor }) => actor);
  }

  /** Drops an actor that is idle. False if it is not there, or not idle. */
  evict(address: Address): boolean {
    const actor = this.find(address);
    if (actor?.isIdle !== true) return false;
    passivate(actor);
    return true;
  }

  get size(): number {
    return this.#actors.size;
  }

  get areAllIdle(): boolean {
    return [...this.#actors].every((actor) => actor.isIdle);
  }

  /**
   * The actor of an address. If it is not in memory, this activates it. It calls `use` before that, so that the activation
   * knows its purpose.
   * @throws MovedError | OverloadedError | TerminalError
   */
  at(address: Address, use: (actor: Actor) => void = () => {}): Actor {
    const present = this.find(address);
    if (present !== undefined) {
      if (this.#options.epochOf(present.shard) !== present.epoch) throw moved();
      this.#addInUse(present);
      use(present);
      return present;
    }
    const actor = this.#newActor(address);
    this.#add(actor);
    this.#addInUse(actor);
    use(actor);
    this.#waitingToActivate.push(actor);
    this.#activateNext();
    return actor;
  }

  /** Hands a message to its actor, and activates the actor if necessary. Every rejection is an outcome of the message. */
  deliver(address: Address, message: Message): void {
    const leaving = message.reachesLeaving ? this.find(address) : undefined;
    try {
      if (leaving === undefined) {
        this.at(address, (actor) => actor.deliver(message));
      } else {
        this.#addInUse(leaving);
        leaving.deliver(message);
      }
    } catch (error) {
      if (!(error instanceof ActorError)) throw error;
      message.resolve({ error });
    }
  }

  /** The actor has left memory. */
  gone(actor: Pick<Actor, 'address'>): void {
    const present = this.find(actor.address);
    if (present === undefined || present !== actor) return;
    this.#actors.delete(present);
    this.#byKind.get(actor.address.kind)?.delete(actor.address.id);
    this.#inUse.delete(present);
    this.#heldBytes -= this.#held.get(present) ?? 0;
    this.#held.delete(present);
  }

  #add(actor: Actor): void {
    const { kind, id } = actor.address;
    const ofKind = this.#byKind.get(kind) ?? new Map<string, Actor>();
    this.#byKind.set(kind, ofKind.set(id, actor));
    this.#actors.add(actor);
  }

  #newActor(address: Address): Actor {
    const { environmentOf, epochOf, shardCount, lease, limits, metrics } = this.#options;
    const environment = environmentOf(address.kind);
    if (environment === undefined) throw new TerminalError(`unknown kind ${address.kind}`);
    const epoch = epochOf(shardOf(address, shardCount));
    if (epoch === undefined || !lease.isValid()) throw moved();
    if (this.#actors.size >= limits.actorsMax && !this.#passivateOldest()) {
      metrics.overloaded('activation');
      throw new OverloadedError('too many actors are active');
    }
    return new Actor(address, epoch, environment);
  }

  #activateNext(): void {
    while (this.#activating < this.#options.limits.activationsMax) {
      const actor = this.#waitingToActivate.shift();
      if (actor === undefined) return;
      if (actor.phase === 'gone') continue;
      this.#activating += 1;
      void this.#activate(actor);
    }
  }

  async #activate(actor: Actor): Promise<void> {
    const activated = await actor.activate();
    this.#activating -= 1;
    this.#activateNext();
    if (activated === 'locked') await this.#activateInBackground(actor);
  }

  /** Tries again until the row is free or its patience ends. It holds no slot and no connection that others could use. */
  async #activateInBackground(actor: Actor): Promise<void> {
    const { clock, lockedRowSemaphore } = this.#options;
    for (let pauseMs = lockedPauseMinMs; ; pauseMs = Math.min(lockedPauseMaxMs, pauseMs * 2)) {
      await sleep(clock, pauseMs);
      if (actor.phase !== 'activating') return;
      if ((await lockedRowSemaphore.run(() => actor.activate())) === 'ended') return;
    }
  }

  #addInUse(actor: Actor): void {
    this.#inUse.add(actor);
    if (!this.#isResting) return;
    this.#cancelTick();
    const restedMs = this.#options.clock.monotonicMs() - this.#lastTickAtMs;
    this.#tickIn(tickMs - (restedMs % tickMs));
  }

  #tickIn(delayMs: number): void {
    this.#isResting = delayMs > tickMs;
    this.#cancelTick = this.#options.clock.schedule(delayMs, () => {
      this.#tick();
      this.#tickIn(this.#inUse.size > 0 ? tickMs : this.#ticksToRound() * tickMs);
    });
  }

  #ticksToRound(): number {
    return Math.max(1, Math.ceil((this.#nextRoundAtMs - this.#lastTickAtMs) / tickMs));
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const { idleMs, actorBytesMax } = this.#options.limits;
    const isRound = nowMs >= this.#nextRoundAtMs;
    if (isRound) this.#nextRoundAtMs = nowMs + Math.min(roundMs, idleMs / roundsOfIdleTime);
    this.#lastTickAtMs = nowMs;
    for (const actor of isRound ? this.#actors : this.#inUse) {
      this.#count(actor);
      if (!actor.isIdle) actor.expire(nowMs);
      else if (actor.lastUsedMs < nowMs - idleMs) passivate(actor);
      else this.#inUse.delete(actor);
    }
    if (this.#heldBytes > actorBytesMax) this.#freeBytes(this.#heldBytes - actorBytesMax);
  }

  #count(actor: Actor): void {
    const bytes = actor.heldBytes;
    this.#heldBytes += bytes - (this.#held.get(actor) ?? 0);
    this.#held.set(actor, bytes);
  }

  #freeBytes(neededBytes: number): void {
    const idle = [...this.#actors].filter((actor) => actor.isIdle);
    idle.sort((a, b) => a.lastUsedMs - b.lastUsedMs);
    let freedBytes = 0;
    for (const actor of idle) {
      if (freedBytes >= neededBytes) return;
      freedBytes += actor.heldBytes;
      passivate(actor);
    }
  }

  #passivateOldest(): boolean {
    let oldest: Actor | undefined;
    let sampled = 0;
    for (const actor of this.#actors) {
      if (!actor.isIdle) continue;
      if (oldest === undefined || actor.lastUsedMs < oldest.lastUsedMs) oldest = actor;
      sampled += 1;
      if (sampled >= passivationSampleMax) break;
    }
    if (oldest === undefined) return false;
    passivate(oldest);
    return true;
  }
}

function moved(): MovedError {
  return new MovedError('this host does not own the actor now');
}

function isBusy(actor: Actor): boolean {
  return !actor.isIdle && actor.phase !== 'gone';
}

function passivate(actor: Actor): void {
  actor.leave(new UnavailableError('this actor has left memory'));
}
