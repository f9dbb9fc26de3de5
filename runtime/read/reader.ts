/**
 * One reader per host. Whenever a slot is free, the reader asks for all reads that actors want at once. So the store can
 * answer many owners with one statement. There is no timer. While every slot is busy reads pile up, so batches
 * grow with the load by themselves.
 *
 * One actor does not stop the others. Actors take turns, one read each. The reads of one actor never occupy all slots at once.
 * The number that waits is bounded, for the host, and for each actor if no mailbox bounds it.
 *
 * A read begins when it is requested, and reaches the database later. The requester overlays or leaves out anything newer in
 * the answer, as always (runtime/actor/rows.ts).
 *
 * A read that needs a statement of its own goes beside the others of its batch. If it takes too long, no other read fails.
 *
 * A batch that the database gave up goes again for a few seconds (read-repeated.ts). A batch that fails:
 *   defect   one read is impossible; they go again in halves, so that in the end only that one fails
 *   others   the database cannot answer now; all of them fail, and so do reads that have waited too long
 */
import { type Address, addressKey } from '../address.ts';
import type { Clock } from '../clock.ts';
import { OverloadedError } from '../errors.ts';
import type { Limits } from '../host/limits.ts';
import type { RuntimeMetrics } from '../host/runtime-metrics.ts';
import {
  isJoinable,
  type Store,
  StoreError,
  type StoreFailure,
  type StoreRead,
  type StoreRows,
} from '../store/store.ts';
import { readRepeated } from './read-repeated.ts';

export interface ReaderOptions {
  readonly store: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly limits: Pick<
    Limits,
    | 'readBatchRowsMax'
    | 'readBatchBytesMax'
    | 'readsInFlightMax'
    | 'sharedReadsOfActorMax'
    | 'readsWaitingMax'
    | 'readWaitMaxMs'
  >;
  readonly metrics: RuntimeMetrics;
}

type Answers = readonly StoreRows[];

interface QueuedRead {
  readonly actor: string;
  readonly reads: readonly StoreRead[];
  readonly cost: Cost;
  readonly cameMs: number;
  resolve(answers: Answers): void;
  reject(error: unknown): void;
}

interface Cost {
  readonly rows: number;
  readonly bytes: number;
}

export class Reader {
  readonly #options: ReaderOptions;
  /** Keyed by actor, in the order of their turns. None is empty. */
  readonly #waiting = new Map<string, QueuedRead[]>();
  /** How many slots have reads of an actor. */
  readonly #slotsOf = new Map<string, number>();
  /** How many shared reads of an actor are not answered yet. */
  readonly #sharedOf = new Map<string, number>();
  #waitingCount = 0;
  #inFlight = 0;
  #scheduled = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** True if no read waits or is in flight, and no count is left. */
  get isIdle(): boolean {
    const counted = this.#waiting.size + this.#slotsOf.size + this.#sharedOf.size;
    return this.#waitingCount + this.#inFlight + counted === 0;
  }

  /** For an actor's turns. Its mailbox bounds how many wait. @throws StoreError | OverloadedError */
  read(address: Address, reads: readonly StoreRead[]): Promise<Answers> {
    return this.#want(addressKey(address), reads);
  }

  /** For answers that do not go through the mailbox. @throws StoreError | OverloadedError */
  async share(address: Address, reads: readonly StoreRead[]): Promise<Answers> {
    const actor = addressKey(address);
    if ((this.#sharedOf.get(actor) ?? 0) >= this.#options.limits.sharedReadsOfActorMax) {
      throw this.#overloaded('too many reads of this actor wait for the database');
    }
    count(this.#sharedOf, actor, 1);
    try {
      return await this.#want(actor, reads);
    } finally {
      count(this.#sharedOf, actor, -1);
    }
  }

  #want(actor: string, reads: readonly StoreRead[]): Promise<Answers> {
    if (this.#waitingCount >= this.#options.limits.readsWaitingMax) {
      return Promise.reject(this.#overloaded('too many reads wait for the database on this host'));
    }
    return new Promise((resolve, reject) => {
      const cameMs = this.#options.clock.monotonicMs();
      this.#push({ actor, reads, cost: costOf(reads), cameMs, resolve, reject });
      this.#schedule();
    });
  }

  #overloaded(why: string): OverloadedError {
    this.#options.metrics.overloaded('read');
    return new OverloadedError(why);
  }

  #push(queued: QueuedRead): void {
    this.#waitingCount += 1;
    const same = this.#waiting.get(queued.actor);
    if (same === undefined) this.#waiting.set(queued.actor, [queued]);
    else same.push(queued);
  }

  #schedule(): void {
    if (this.#scheduled || this.#isFull) return;
    this.#scheduled = true;
    // Waiting for the microtask lets reads of the same tick, of this and other actors, come along at no cost.
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  get #isFull(): boolean {
    return this.#inFlight >= this.#options.limits.readsInFlightMax;
  }

  #fill(): void {
    while (!this.#isFull) {
      const batch = this.#take();
      if (batch.length === 0) return;
      void this.#send(batch);
    }
  }

  /** Takes one read of each actor in turn until the batch is full. The first is always taken, at any cost. */
  #take(): readonly QueuedRead[] {
    const { readBatchRowsMax, readBatchBytesMax, readsInFlightMax } = this.#options.limits;
    const slotsOfActorMax = Math.max(1, readsInFlightMax - 1);
    const batch: QueuedRead[] = [];
    let rows = 0;
    let bytes = 0;
    // An actor that has had its turn goes to the end of the map, where this loop meets it again.
    for (const [actor, queue] of this.#waiting) {
      if ((this.#slotsOf.get(actor) ?? 0) >= slotsOfActorMax) continue;
      const [next] = queue;
      if (next === undefined) continue;
      rows += next.cost.rows;
      bytes += next.cost.bytes;
      if (batch.length > 0 && (rows > readBatchRowsMax || bytes > readBatchBytesMax)) break;
      batch.push(next);
      queue.shift();
      this.#waitingCount -= 1;
      this.#waiting.delete(actor);
      if (queue.length > 0) this.#waiting.set(actor, queue);
    }
    return batch;
  }

  async #send(batch: readonly QueuedRead[]): Promise<void> {
    const actors = new Set(batch.map(({ actor }) => actor));
    this.#inFlight += 1;
    for (const actor of actors) count(this.#slotsOf, actor, 1);
    await Promise.all(groupsOf(batch).map((group) => this.#ask(group)));
    for (const actor of actors) count(this.#slotsOf, actor, -1);
    this.#inFlight -= 1;
    this.#fill();
  }

  async #ask(waiting: readonly QueuedRead[]): Promise<void> {
    const { clock, metrics } = this.#options;
    const sentMs = clock.monotonicMs();
    try {
      const reads = waiting.flatMap((queued) => queued.reads);
      const answers = await readRepeated(this.#options, reads);
      metrics.readBatch(waiting.length, clock.monotonicMs() - sentMs);
      let from = 0;
      for (const { reads, resolve } of waiting) {
        resolve(answers.slice(from, from + reads.length));
        from += reads.length;
      }
    } catch (error) {
      if (hasFailed(error, 'defect') && waiting.length > 1) return this.#askInHalves(waiting);
      for (const { reject } of waiting) reject(error);
      this.#dropLate();
    }
  }

  async #askInHalves(waiting: readonly QueuedRead[]): Promise<void> {
    const half = Math.ceil(waiting.length / 2);
    await this.#ask(waiting.slice(0, half));
    await this.#ask(waiting.slice(half));
  }

  /** While the database does not answer, a read must not wait behind all earlier reads. */
  #dropLate(): void {
    const { clock, limits } = this.#options;
    const lateMs = clock.monotonicMs() - limits.readWaitMaxMs;
    for (const [actor, queue] of this.#waiting) {
      const late = queue.filter(({ cameMs }) => cameMs <= lateMs);
      if (late.length === 0) continue;
      const left = queue.filter(({ cameMs }) => cameMs > lateMs);
      if (left.length === 0) this.#waiting.delete(actor);
      else this.#waiting.set(actor, left);
      this.#waitingCount -= late.length;
      for (const { reject } of late) reject(new StoreError('unavailable', 'a read waited too long'));
    }
  }
}

/** Groups the reads that one statement may answer. The others have a statement of their own anyway. */
function groupsOf(batch: readonly QueuedRead[]): readonly (readonly QueuedRead[])[] {
  const isUnbatched = ({ reads }: QueuedRead) => !reads.every(isJoinable);
  const joined = batch.filter((queued) => !isUnbatched(queued));
  const unbatched = batch.filter(isUnbatched).map((queued) => [queued]);
  return joined.length > 0 ? [joined, ...unbatched] : unbatched;
}

const hasFailed = (error: unknown, failure: StoreFailure): boolean =>
  error instanceof StoreError && error.failure === failure;

function count(counts: Map<string, number>, actor: string, by: 1 | -1): void {
  const counted = (counts.get(actor) ?? 0) + by;
  if (counted === 0) counts.delete(actor);
  else counts.set(actor, counted);
}

/** The most rows that may be answered, and the bytes that their budgets allow. */
function costOf(reads: readonly StoreRead[]): Cost {
  let rows = 0;
  let bytes = 0;
  for (const read of reads) {
    rows += rowsMaxOf(read);
    bytes += read.budgetBytes ?? 0;
  }
  return { rows, bytes };
}

function rowsMaxOf(read: StoreRead): number {
  switch (read.read) {
    case 'keys':
      return read.keys.length;
    case 'lookup':
      return read.limit ?? read.values.length;
    case 'range':
      return Math.min(read.limit, read.through - read.after);
    case 'crossOwner':
      // The database looks at an owner even if it has nothing new.
      return read.limit + read.owners.length;
  }
}
