/** Calls to other processes, the caller's side: what `runtime/transport/transport.ts` promises of `ask`, over NATS. */

import type { Clock } from '../../clock.ts';
import { OverloadedError, RetryableError } from '../../errors.ts';
import type { OwnerEpochs } from '../owner-epochs.ts';
import type { AskCall } from '../transport.ts';
import { actorErrorOf } from './error-reply.ts';
import { decodeFrame, type Frame, FrameError } from './frame.ts';
import type { LargeMessageReceiver } from './large-message-receiver.ts';
import type { LargeMessageSender, PackedFrame } from './large-message-sender.ts';
import type { RejectedFrames, TransportMetrics } from './metrics.ts';
import type { Mux } from './mux.ts';

const inFlightMax = 20_000;

export interface CallSenderOptions {
  /** Requests over the control connection. */
  readonly mux: Pick<Mux, 'request'>;
  readonly held: Pick<LargeMessageSender, 'pack' | 'forget'>;
  readonly pulls: Pick<LargeMessageReceiver, 'pull'>;
  readonly shardSubject: (shard: number) => string;
  readonly incarnation: string;
  readonly shardCount: number;
  readonly epochs: OwnerEpochs;
  readonly clock: Clock;
  readonly metrics: TransportMetrics;
  readonly rejected: RejectedFrames;
}

export class CallSender {
  readonly #options: CallSenderOptions;
  #inFlight = 0;

  constructor(options: CallSenderOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** @throws ActorError */
  ask(call: AskCall, shard: number): Promise<unknown> {
    return this.#ask(call, shard, this.#options.epochs.of(shard));
  }

  async #ask(call: AskCall, shard: number, epoch: number): Promise<unknown> {
    if (this.#inFlight >= inFlightMax) throw new OverloadedError('too many calls wait for an answer');
    const { mux, held, shardSubject, metrics, epochs } = this.#options;
    const packed = this.#packed(call, epoch);
    this.#inFlight += 1;
    try {
      metrics.frame('out', packed.kind);
      const answer = await mux.request(shardSubject(shard), packed.bytes, call.deadlineMs);
      return await this.#read(answer, call.deadlineMs);
    } catch (error) {
      if (error instanceof RetryableError && error.outcome === 'unknown') metrics.unknownOutcome();
      if (!epochs.refused(shard, epoch, error)) throw error;
    } finally {
      this.#inFlight -= 1;
      if (packed.heldId !== undefined) held.forget(packed.heldId);
    }
    return await this.ask(call, shard);
  }

  #packed({ address, command, request, callId, deadlineMs, span }: AskCall, epoch: number): PackedFrame {
    const { held, incarnation: from, shardCount: shards, clock } = this.#options;
    const remainingMs = deadlineMs - clock.monotonicMs();
    if (remainingMs <= 0) throw new RetryableError('the deadline has passed', { outcome: 'none' });
    const to = { shards, epoch, address };
    const frame = { kind: 'call', callId, from, ...to, remainingMs, command, request } as const;
    return held.pack(span === undefined ? frame : { ...frame, trace: span.traceparent }, deadlineMs);
  }

  async #read(answer: Uint8Array, deadlineMs: number): Promise<unknown> {
    const frame = await this.#opened(answer, deadlineMs);
    if (frame.kind === 'reply') return frame.value;
    if (frame.kind === 'refusal') throw actorErrorOf(frame);
    this.#options.rejected.count('kind');
    throw unreadable();
  }

  /** The call was handled. If its answer cannot be read, the outcome is unknown. */
  async #opened(answer: Uint8Array, deadlineMs: number): Promise<Frame> {
    const { pulls, metrics, rejected } = this.#options;
    try {
      const frame = decodeFrame(answer);
      metrics.frame('in', frame.kind);
      return frame.kind === 'held' ? await pulls.pull(frame, deadlineMs) : frame;
    } catch (error) {
      if (error instanceof FrameError) rejected.count(error.reason);
      throw unreadable();
    }
  }
}

const unreadable = () => new RetryableError('the answer could not be fetched', { outcome: 'unknown' });
