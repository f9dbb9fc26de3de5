/**
 * The actors in memory, found by address. A bounded number of them is activated at a time. If the row of an actor is locked in the
 * database, its activation is tried again outside this bound.
 *
 * An actor is passivated when it has been idle for long. It is also passivated when there are too many actors, or when they
 * hold too much memory. Its state is in the database, and the next message loads it again.
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

/** Every tick checks the actors in use. If there are none, ticks come only for full scans, so that an idle process sleeps. */
const tickMs = 250;
/** The time between two checks of all actors, most of which are idle. */
const fullScanMs = 5_000;
/** The full scans in one idle time. An actor is therefore passivated at most a sixtieth of that time late. */
const scansPerIdleTime = 60;
const lockedPauseMinMs = 25;
const lockedPauseMaxMs = 500;
/** Only the first idle actors are compared to find the one to passivate. An exact order is not worth a list. */
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
  /** Every actor in memory, with the bytes that it held at the last check. */
  readonly #actors = new Map<Actor, number>();
  /** Keyed by kind, then by id. One key of both would cost a new string for each message. */
  readonly #byKind = new Map<string, Map<string, Actor>>();
  /** The actors used since they were last found idle. The others are idle, so their size does not change. */
  readonly #inUse = new Set<Actor>();
  /** The sum of the bytes in `#actors`. */
  #totalBytes = 0;
  #nextFullScanAtMs = Number.NEGATIVE_INFINITY;
  #lastTickAtMs = 0;
  #isSlowTicking = false;
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
    this.#isSlowTicking = false;
    this.#waitingToActivate.length = 0;
    for (const actor of [...this.#actors.keys()]) actor.leave(movedError());
  }

  /**
   * Lets the work in flight at the actors of these shards finish, within this time, and drops the actors. Calls that still wait
   * go to the next owner. Meanwhile no other actor of these shards may be activated.
   */
  async quiesce(shards: ReadonlySet<number>, withinMs: number): Promise<void> {
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + withinMs;
    const all = [...this.#actors.keys()].filter((actor) => shards.has(actor.shard));
    let busy = all.filter(isBusy);
    while (busy.length > 0 && clock.monotonicMs() < deadlineMs) {
      await sleep(clock, 1);
      busy = busy.filter(isBusy);
    }
    for (const actor of all) actor.leave(movedError());
  }

  /** The actor of an address if it is in memory. */
  find(address: Address): Actor | undefined {
    return this.#byKind.get(address.kind)?.get(address.id);
  }

  /** The actors with the largest amounts, the largest first. */
  top(amountOf: (actor: Actor) => number, limit: number): readonly Actor[] {
    return [...this.#actors.keys()]
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
    return [...this.#actors.keys()].every((actor) => actor.isIdle);
  }

  /**
   * The actor of an address. If it is not in memory, this activates it. `use` runs before that, so that the activation sees
   * whether a waiting message may create the actor.
   * @throws MovedError | OverloadedError | TerminalError
   */
  getOrActivate(address: Address, use: (actor: Actor) => void = () => {}): Actor {
    const present = this.find(address);
    if (present !== undefined) {
      if (this.#options.epochOf(present.shard) !== present.epoch) throw movedError();
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

  /** Hands a message to its actor, and activates the actor if necessary. An `ActorError` becomes the outcome of the message. */
  deliver(address: Address, message: Message): void {
    const inMemory = message.reachesLeaving ? this.find(address) : undefined;
    try {
      if (inMemory === undefined) {
        this.getOrActivate(address, (actor) => actor.deliver(message));
      } else {
        this.#addInUse(inMemory);
        inMemory.deliver(message);
      }
    } catch (error) {
      if (!(error instanceof ActorError)) throw error;
      message.resolve({ error });
    }
  }

  /** Call when the actor has left memory. */
  remove(actor: Pick<Actor, 'address'>): void {
    const present = this.find(actor.address);
    if (present === undefined || present !== actor) return;
    this.#totalBytes -= this.#actors.get(present) ?? 0;
    this.#actors.delete(present);
    this.#byKind.get(actor.address.kind)?.delete(actor.address.id);
    this.#inUse.delete(present);
  }

  #add(actor: Actor): void {
    const { kind, id } = actor.address;
    const ofKind = this.#byKind.get(kind) ?? new Map<string, Actor>();
    this.#byKind.set(kind, ofKind.set(id, actor));
    this.#actors.set(actor, 0);
  }

  #newActor(address: Address): Actor {
    const { environmentOf, epochOf, shardCount, lease, limits, metrics } = this.#options;
    const environment = environmentOf(address.kind);
    if (environment === undefined) throw new TerminalError(`unknown kind ${address.kind}`);
    const epoch = epochOf(shardOf(address, shardCount));
    if (epoch === undefined || !lease.isValid()) throw movedError();
    if (this.#actors.size >= limits.actorsMax && !this.#passivateLongestIdle()) {
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

  /** Tries again until the row is unlocked or `lockPatienceMs` has passed. It takes no slot of the activations. */
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
    if (!this.#isSlowTicking) return;
    this.#cancelTick();
    const sinceTickMs = this.#options.clock.monotonicMs() - this.#lastTickAtMs;
    this.#tickIn(tickMs - (sinceTickMs % tickMs));
  }

  #tickIn(delayMs: number): void {
    this.#isSlowTicking = delayMs > tickMs;
    this.#cancelTick = this.#options.clock.schedule(delayMs, () => {
      this.#tick();
      this.#tickIn(this.#inUse.size > 0 ? tickMs : this.#ticksToFullScan() * tickMs);
    });
  }

  #ticksToFullScan(): number {
    return Math.max(1, Math.ceil((this.#nextFullScanAtMs - this.#lastTickAtMs) / tickMs));
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const { idleMs, actorBytesMax } = this.#options.limits;
    const isFullScan = nowMs >= this.#nextFullScanAtMs;
    if (isFullScan) this.#nextFullScanAtMs = nowMs + Math.min(fullScanMs, idleMs / scansPerIdleTime);
    this.#lastTickAtMs = nowMs;
    for (const actor of isFullScan ? this.#actors.keys() : this.#inUse) {
      this.#measure(actor);
      if (!actor.isIdle) actor.expire(nowMs);
      else if (actor.lastUsedMs < nowMs - idleMs) passivate(actor);
      else this.#inUse.delete(actor);
    }
    if (this.#totalBytes > actorBytesMax) this.#freeBytes(this.#totalBytes - actorBytesMax);
  }

  #measure(actor: Actor): void {
    const bytes = actor.heldBytes;
    this.#totalBytes += bytes - (this.#actors.get(actor) ?? 0);
    this.#actors.set(actor, bytes);
  }

  #freeBytes(neededBytes: number): void {
    const idle = [...this.#actors.keys()].filter((actor) => actor.isIdle);
    idle.sort((a, b) => a.lastUsedMs - b.lastUsedMs);
    let freedBytes = 0;
    for (const actor of idle) {
      if (freedBytes >= neededBytes) return;
      freedBytes += actor.heldBytes;
      passivate(actor);
    }
  }

  #passivateLongestIdle(): boolean {
    let longestIdle: Actor | undefined;
    let sampled = 0;
    for (const actor of this.#actors.keys()) {
      if (!actor.isIdle) continue;
      if (longestIdle === undefined || actor.lastUsedMs < longestIdle.lastUsedMs) longestIdle = actor;
      sampled += 1;
      if (sampled >= passivationSampleMax) break;
    }
    if (longestIdle === undefined) return false;
    passivate(longestIdle);
    return true;
  }
}

function movedError(): MovedError {
  return new MovedError('this host does not own the actor now');
}

function isBusy(actor: Actor): boolean {
  return !actor.isIdle && actor.phase !== 'gone';
}

function passivate(actor: Actor): void {
  actor.leave(new UnavailableError('this actor has left memory'));
}
