/**
 * Large messages, the receiver's side (see `held-messages.ts`). What is in flight to this process is bounded: a few
 * parts and a number of bytes of unfinished messages at once; further ones wait in line.
 */
import type { Clock } from '../../clock.ts';
import { NotFoundError, RetryableError } from '../../errors.ts';
import { Budget } from './budget.ts';
import { errorOf } from './error-reply.ts';
import { decodeFrame, encodeFrame, type Frame, FrameError, type FrameOf, partBytes } from './frame.ts';
import type { TransportMetrics } from './metrics.ts';
import type { Mux } from './mux.ts';

const partsInFlightMax = 8;
const unfinishedBytesMax = 256 * 1_024 * 1_024;
/** A part that takes longer is lost, or its holder is. */
const partMs = 10_000;

export interface PullsOptions {
  /** Over the bulk connection. */
  readonly mux: Mux;
  readonly partsSubject: (holder: string) => string;
  readonly clock: Clock;
  readonly metrics: TransportMetrics;
}

export class Pulls {
  readonly #options: PullsOptions;
  readonly #parts = new Budget(partsInFlightMax);
  readonly #bytes = new Budget(unfinishedBytesMax);

  constructor(options: PullsOptions) {
    this.#options = options;
  }

  /** The frame that a held one stands for. @throws FrameError; ActorError: it cannot be fetched */
  pull(held: FrameOf<'held'>, deadlineMs: number): Promise<Frame> {
    return this.#bytes.spend(held.bytes, async () => {
      const whole = Buffer.allocUnsafe(held.bytes);
      const pull = { held, deadlineMs, whole, hasFailed: false };
      const parts = Array.from({ length: Math.ceil(held.bytes / partBytes) }, (_, part) => part);
      await Promise.all(parts.map((part) => this.#parts.spend(1, () => this.#fetch(pull, part))));
      const frame = decodeFrame(whole);
      if (frame.kind === 'held') throw new FrameError('kind', 'a held frame stands for another one');
      this.#options.metrics.frame('in', frame.kind);
      return frame;
    });
  }

  async #fetch(pull: Pull, part: number): Promise<void> {
    const { mux, partsSubject, clock, metrics } = this.#options;
    const { held, deadlineMs, whole } = pull;
    if (pull.hasFailed) return;
    try {
      const nowMs = clock.monotonicMs();
      if (nowMs >= deadlineMs) throw new RetryableError('the deadline passed', { outcome: 'none' });
      const fetch = encodeFrame({ kind: 'fetch', id: held.id, part });
      metrics.frame('out', 'fetch');
      const answer = decodeFrame(
        await mux.request(partsSubject(held.from), fetch, Math.min(deadlineMs, nowMs + partMs)),
      );
      metrics.frame('in', answer.kind);
      if (answer.kind === 'refusal') throw errorOf(answer);
      const bytesMeant = Math.min(partBytes, held.bytes - part * partBytes);
      if (answer.kind !== 'part' || answer.bytes.length !== bytesMeant) {
        throw new NotFoundError('the part that came is another one');
      }
      whole.set(answer.bytes, part * partBytes);
    } catch (error) {
      pull.hasFailed = true;
      throw error;
    }
  }
}

interface Pull {
  readonly held: FrameOf<'held'>;
  readonly deadlineMs: number;
  readonly whole: Buffer;
  hasFailed: boolean;
}
