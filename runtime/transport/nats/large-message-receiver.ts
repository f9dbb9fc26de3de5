/**
 * Large messages, the receiver's side. The sender, called the holder here, keeps the message and offers it by a small `held`
 * frame. This class fetches the message part by part (`large-message-sender.ts` has the protocol).
 *
 * Two things are bounded: the parts in flight from each holder, and the bytes of unfinished messages, from each holder and from
 * all. Further messages queue for their own holder, so that a holder that hangs delays no other holder's messages.
 *
 * A holder that does not answer a request for a part within `partMs` is dropped. Every fetch from it, begun or queued, fails at
 * once, and the callers repeat their calls. If the holder offers another message later, it is alive, and the fetch starts afresh.
 */
import type { Clock } from '../../clock.ts';
import { NotFoundError, RetryableError } from '../../errors.ts';
import { Semaphore } from '../../semaphore.ts';
import { actorErrorOf } from './error-reply.ts';
import { decodeFrame, encodeFrame, type Frame, FrameError, type FrameOf, partBytes } from './frame.ts';
import type { TransportMetrics } from './metrics.ts';
import type { Mux } from './mux.ts';

const partsOfHolderMax = 4;
const unfinishedBytesMax = 256 * 1_024 * 1_024;
const unfinishedBytesOfHolderMax = unfinishedBytesMax / 4;
/** A part that has not come after this time is lost, or its holder hangs. */
const partMs = 10_000;

export interface LargeMessageReceiverOptions {
  /** Over the bulk connection. */
  readonly mux: Pick<Mux, 'request' | 'abandon'>;
  readonly partsSubject: (holder: string) => string;
  readonly clock: Clock;
  readonly metrics: TransportMetrics;
}

export class LargeMessageReceiver {
  readonly #options: LargeMessageReceiverOptions;
  readonly #bytes = new Semaphore(unfinishedBytesMax);
  /** Keyed by holder, while it has messages to fetch. */
  readonly #holders = new Map<string, Holder>();

  constructor(options: LargeMessageReceiverOptions) {
    this.#options = options;
  }

  /** Fetches the frame that a `held` frame stands for. @throws FrameError; ActorError if it cannot be fetched */
  async pull(held: FrameOf<'held'>, deadlineMs: number): Promise<Frame> {
    const holder = this.#holderAt(held.from);
    holder.pulls += 1;
    try {
      return await holder.bytes.run(
        () => this.#bytes.run(() => this.#fetchAll({ held, deadlineMs, holder }), held.bytes),
        Math.min(held.bytes, unfinishedBytesOfHolderMax),
      );
    } finally {
      holder.pulls -= 1;
      if (holder.pulls === 0) this.#forget(holder);
    }
  }

  #holderAt(id: string): Holder {
    const known = this.#holders.get(id);
    if (known !== undefined) return known;
    const parts = new Semaphore(partsOfHolderMax);
    const bytes = new Semaphore(unfinishedBytesOfHolderMax);
    const holder = { id, parts, bytes, pulls: 0, isDropped: false };
    this.#holders.set(id, holder);
    return holder;
  }

  #forget(holder: Holder): void {
    if (this.#holders.get(holder.id) === holder) this.#holders.delete(holder.id);
  }

  async #fetchAll({ held, deadlineMs, holder }: Omit<Pull, 'whole' | 'hasFailed'>): Promise<Frame> {
    if (holder.isDropped) throw holderHangs();
    const whole = Buffer.allocUnsafe(held.bytes);
    const pull = { held, deadlineMs, holder, whole, hasFailed: false };
    const parts = Array.from({ length: Math.ceil(held.bytes / partBytes) }, (_, part) => part);
    await Promise.all(parts.map((part) => holder.parts.run(() => this.#fetch(pull, part))));
    const frame = decodeFrame(whole);
    if (frame.kind === 'held') throw new FrameError('kind', 'a held frame stands for another one');
    this.#options.metrics.frame('in', frame.kind);
    return frame;
  }

  async #fetch(pull: Pull, part: number): Promise<void> {
    if (pull.hasFailed) return;
    try {
      pull.whole.set(await this.#part(pull, part), part * partBytes);
    } catch (error) {
      pull.hasFailed = true;
      throw error;
    }
  }

  async #part({ held, deadlineMs, holder }: Pull, part: number): Promise<Uint8Array> {
    const { partsSubject, metrics } = this.#options;
    if (holder.isDropped) throw holderHangs();
    metrics.frame('out', 'fetch');
    const fetch = encodeFrame({ kind: 'fetch', id: held.id, part });
    const answer = decodeFrame(await this.#request(holder, partsSubject(held.from), fetch, deadlineMs));
    metrics.frame('in', answer.kind);
    if (answer.kind === 'refusal') throw actorErrorOf(answer);
    const expectedBytes = Math.min(partBytes, held.bytes - part * partBytes);
    if (answer.kind !== 'part' || answer.bytes.length !== expectedBytes) {
      throw new NotFoundError('the answer is not the part that was asked for');
    }
    return answer.bytes;
  }

  async #request(
    holder: Holder,
    subject: string,
    fetch: Uint8Array,
    deadlineMs: number,
  ): Promise<Uint8Array> {
    const { mux, clock } = this.#options;
    const askedMs = clock.monotonicMs();
    if (askedMs >= deadlineMs) throw new RetryableError('the deadline passed', { outcome: 'none' });
    try {
      return await mux.request(subject, fetch, Math.min(deadlineMs, askedMs + partMs));
    } catch (error) {
      // A shorter wait proves nothing: the caller ran out of time, not the holder.
      if (clock.monotonicMs() - askedMs >= partMs) this.#drop(holder, subject);
      throw error;
    }
  }

  #drop(holder: Holder, subject: string): void {
    if (holder.isDropped) return;
    holder.isDropped = true;
    this.#forget(holder);
    this.#options.mux.abandon([subject]);
  }
}

const holderHangs = () =>
  new RetryableError('the process that holds this message does not answer', { outcome: 'unknown' });

/** A process that holds messages for this process. */
interface Holder {
  readonly id: string;
  readonly parts: Semaphore;
  readonly bytes: Semaphore;
  /** Messages that are being fetched or are queued. */
  pulls: number;
  /** It did not answer in time. Later messages of the same process begin a new entry. */
  isDropped: boolean;
}

interface Pull {
  readonly held: FrameOf<'held'>;
  readonly deadlineMs: number;
  readonly holder: Holder;
  readonly whole: Buffer;
  hasFailed: boolean;
}
