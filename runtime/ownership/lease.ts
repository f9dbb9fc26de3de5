/**
 * A host's right to serve.
 *
 * The host renews its lease in the database every third of its length. It counts the end from before it *sent* the renewal:
 * validUntil = (clock before sending) + leaseMs - margin. Both clocks must agree that this has not passed. The monotonic clock
 * does not jump, and the wall clock also counts the time that the machine slept.
 *
 * If a renewal fails because the database cannot be reached, nothing changes and the host tries again soon. The lease lapses by
 * itself, and is valid again after the next successful renewal. Until its row is expired no other host can have claimed
 * anything. If a renewal is *rejected*, this incarnation was declared dead and must never serve again.
 *
 * A host without a valid lease may have been replaced, and must not stand in its successor's way. Callers take the first answer
 * they get, and "moved" from the former owner comes sooner than the new one's reply. So a timer at `validUntil` reports the
 * lapse, and the next renewal that succeeds reports the return (`onLapsed`, `onRestored`). Neither decides anything: every turn
 * and every answer asks `isValid` first.
 *
 * A renewal brings the time of the database, and with it the error of this host's clock. Sessions, shares and tokens end by
 * that clock. A host whose clock is off by more than a bound serves nothing until it is right again.
 */
import { type Clock, sleep } from '../clock.ts';
import { UnavailableError } from '../errors.ts';
import type { Logger } from '../ports.ts';
import { type NodeRow, type Store, StoreError } from '../store/store.ts';

const marginMinMs = 1_000;
const marginShare = 1 / 5;
const renewalShare = 1 / 3;
const retryShare = 1 / 20;
/** The late last statement of a dead predecessor may lengthen its lease once more. A living one continues. */
const waitsMax = 2;

export interface LeaseOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly node: NodeRow;
  readonly leaseMs: number;
  readonly logger: Logger;
  /**
   * Whether no other process of this node id can be alive, as when this one holds the lock of the directory with the database.
   * Otherwise this host waits until the former one's lease is over.
   */
  readonly isPredecessorDead: boolean;
  /** Stores the name of this incarnation for the next process, before it is registered. */
  readonly remember?: ((incarnation: string) => Promise<void>) | undefined;
  /** Checks once more, after this incarnation is registered, whether it may serve this database. Throws if not. */
  readonly verify?: (() => Promise<void>) | undefined;
  /** How far the wall clock may be from the database's. If absent, any distance is allowed. */
  readonly clockSkewMaxMs?: number | undefined;
  /** The incarnation was declared dead. The process should end. */
  readonly onLost: () => void;
  /** The lease was not renewed in time: other hosts may serve, this one may not. */
  readonly onLapsed?: () => void;
  /** A lapsed lease was renewed: no other host has claimed the shards of this one. */
  readonly onRestored?: () => void;
}

/** Another process serves under this node id and keeps renewing its lease. */
export class NodeIdInUseError extends UnavailableError {}

export class Lease {
  readonly #options: LeaseOptions;
  #validUntilMonotonicMs = Number.NEGATIVE_INFINITY;
  #validUntilWallMs = Number.NEGATIVE_INFINITY;
  #clockSkewMs = 0;
  #registering: Promise<unknown> = Promise.resolve();
  #ended = false;
  #hasLapsed = false;
  #cancel: () => void = () => {};
  #cancelLapse: () => void = () => {};

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /**
   * Registers this incarnation once the lease of its predecessor is over. Until then the predecessor may answer from memory,
   * and its shards must not be taken.
   * @throws StoreError | NodeIdInUseError, and what `remember` and `verify` throw
   */
  async start(): Promise<void> {
    const { clock, node, logger, remember } = this.#options;
    await remember?.(node.incarnation);
    if (this.#ended) return;
    let heldForMs = await this.#register();
    for (let waits = 0; heldForMs > 0; waits += 1) {
      if (waits === waitsMax)
        throw new NodeIdInUseError(`another process serves as node "${node.id}" and keeps its lease`);
      logger.info({ waitMs: heldForMs }, 'waiting for the lease of the former process of this node to end');
      await sleep(clock, heldForMs + 1);
      if (this.#ended) return;
      heldForMs = await this.#register();
    }
    // The lease was given up meanwhile. It would not be renewed, and a caller that waits for it would wait in vain.
    if (this.#ended) return this.leave();
    // If the clock decides whether this host may serve, the renewal that brings the time of the database comes first.
    this.#scheduleRenewal(this.#options.clockSkewMaxMs === undefined ? renewalShare : 0);
    await this.#verify();
  }

  async #verify(): Promise<void> {
    try {
      await this.#options.verify?.();
    } catch (error) {
      // If the lease cannot be given back now, it ends by itself. The caller must learn why this host may not serve.
      await this.leave().catch(() => undefined);
      throw error;
    }
  }

  #register(): Promise<number> {
    const registering = this.#sendRegistration();
    this.#registering = registering.catch(() => undefined);
    return registering;
  }

  async #sendRegistration(): Promise<number> {
    const { store, node, leaseMs, isPredecessorDead } = this.#options;
    let heldForMs = 0;
    await this.#extend(async () => {
      heldForMs = await store.register(node, leaseMs, isPredecessorDead);
      return heldForMs === 0;
    });
    return heldForMs;
  }

  isValid(): boolean {
    const { clock } = this.#options;
    return (
      !this.#ended &&
      this.isClockRight &&
      clock.monotonicMs() < this.#validUntilMonotonicMs &&
      clock.nowMs() < this.#validUntilWallMs
    );
  }

  /** How far the wall clock is ahead of the database's, at least, by the last renewal. Negative if it is behind. */
  get clockSkewMs(): number {
    return this.#clockSkewMs;
  }

  get isClockRight(): boolean {
    const { clockSkewMaxMs = Number.POSITIVE_INFINITY } = this.#options;
    return Math.abs(this.#clockSkewMs) <= clockSkewMaxMs;
  }

  /** Gives the lease up. This host serves nothing after that. @throws StoreError: it ends by itself */
  async leave(): Promise<void> {
    this.#end();
    const { store, node } = this.#options;
    // A registration in flight could take effect after the lease was given up. The other hosts would then wait for a dead one.
    if (!(await this.#isRegistrationOver()))
      throw new StoreError('unavailable', 'the registration of this node is not answered');
    await store.leave(node.id, node.incarnation);
  }

  /** False if the database is silent. A process that ends then should not wait for two of its statements, one after the other. */
  #isRegistrationOver(): Promise<boolean> {
    const { clock, leaseMs } = this.#options;
    const over = this.#registering.then(() => true);
    return Promise.race([over, sleep(clock, leaseMs * renewalShare).then(() => false)]);
  }

  /** Stops renewing without a word to the database, as a crash would. */
  abandon(): void {
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#cancel();
    this.#cancelLapse();
  }

  async #extend(send: () => Promise<boolean>): Promise<boolean> {
    const { clock, leaseMs } = this.#options;
    const sentMonotonicMs = clock.monotonicMs();
    const sentWallMs = clock.nowMs();
    if (!(await send())) return false;
    const usableMs = leaseMs - Math.max(marginMinMs, leaseMs * marginShare);
    this.#validUntilMonotonicMs = sentMonotonicMs + usableMs;
    this.#validUntilWallMs = sentWallMs + usableMs;
    this.#watchLapse();
    return true;
  }

  async #renewed(): Promise<boolean> {
    const { store, node, leaseMs, clock, logger } = this.#options;
    const sentMs = clock.nowMs();
    const databaseMs = await store.renew(node.id, node.incarnation, leaseMs);
    if (databaseMs === undefined) return false;
    const wasRight = this.isClockRight;
    this.#clockSkewMs = skewMs(databaseMs, { sentMs, answeredMs: clock.nowMs() });
    const { isClockRight, clockSkewMs } = this;
    if (wasRight && !isClockRight)
      logger.error(
        { clockSkewMs },
        'the clock of this machine is wrong: nothing is served here until it is set',
      );
    else if (!wasRight && isClockRight)
      logger.info({ clockSkewMs }, 'the clock of this machine is right again');
    return true;
  }

  #watchLapse(): void {
    this.#cancelLapse();
    if (this.#ended) return;
    const { clock, onLapsed, onRestored } = this.#options;
    const hadLapsed = this.#hasLapsed;
    this.#hasLapsed = !this.isValid();
    if (this.#hasLapsed) {
      if (!hadLapsed) onLapsed?.();
      return;
    }
    const leftMs = this.#validUntilMonotonicMs - clock.monotonicMs();
    // A fraction of a millisecond may not move a clock, which would then be asked again and again at one moment.
    this.#cancelLapse = clock.schedule(Math.max(1, leftMs), () => this.#watchLapse());
    if (hadLapsed) onRestored?.();
  }

  /** How long the lease has been over, by the clock that says longer. 0 if it was ended before its time. */
  #endedAgoMs(): number {
    const { clock } = this.#options;
    const monotonicMs = clock.monotonicMs() - this.#validUntilMonotonicMs;
    return Math.round(Math.max(0, monotonicMs, clock.nowMs() - this.#validUntilWallMs));
  }

  #scheduleRenewal(share: number): void {
    if (this.#ended) return;
    const { clock, leaseMs } = this.#options;
    this.#cancel = clock.schedule(leaseMs * share, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { logger, onLost } = this.#options;
    try {
      if (!(await this.#extend(() => this.#renewed()))) {
        // A lease that was given up meanwhile is not lost.
        if (this.#ended) return;
        this.#end();
        logger.error(
          { endedAgoMs: this.#endedAgoMs() },
          'the lease of this node has ended: others may serve what it did',
        );
        onLost();
        return;
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      logger.warn({ failure: error.failure }, 'the lease could not be renewed');
      return this.#scheduleRenewal(retryShare);
    }
    this.#scheduleRenewal(renewalShare);
  }
}

/** The certain part of the difference: the database read its clock between the sending and the answer. */
function skewMs(
  databaseMs: number,
  { sentMs, answeredMs }: { readonly sentMs: number; readonly answeredMs: number },
): number {
  if (databaseMs < sentMs) return sentMs - databaseMs;
  return Math.min(0, answeredMs - databaseMs);
}
