/**
 * Calls of other processes, the owner's side. Any message at a shard's subject that names where to answer gets a reply or an
 * error reply. No message can make this throw. A call whose deadline has passed is dropped before it runs, because its caller
 * no longer waits.
 */
import type { Clock } from '../../clock.ts';
import {
  ActorError,
  MovedError,
  messageOf,
  OverloadedError,
  RetryableError,
  TerminalError,
} from '../../errors.ts';
import type { Logger } from '../../ports.ts';
import { inSpan, type Tracer } from '../../tracing.ts';
import type { AskCall } from '../transport.ts';
import type { Connection, Received } from './connection.ts';
import { asActorError, errorReplyOf } from './error-reply.ts';
import { decodeFrame, encodeFrame, type Frame, FrameError, type FrameOf } from './frame.ts';
import type { HeldMessages, Packed } from './held-messages.ts';
import type { RejectedFrames, TransportMetrics } from './metrics.ts';
import type { Pulls } from './pulls.ts';

const inFlightMax = 20_000;
const fetchRetryMs = 100;

export interface AnsweringOptions {
  readonly connection: Connection;
  readonly held: HeldMessages;
  readonly pulls: Pulls;
  readonly shardCount: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: TransportMetrics;
  readonly rejected: RejectedFrames;
  readonly tracer?: Tracer | undefined;
  /** The function that answers calls to this shard, if this process serves it. */
  readonly served: (shard: number) => ((call: AskCall) => Promise<unknown>) | undefined;
}

export class Answering {
  readonly #options: AnsweringOptions;
  #inFlight = 0;

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  /** Takes a message at the subject of a shard. */
  take(message: Received, shard: number): void {
    if (this.#inFlight >= inFlightMax) {
      this.#reject(message.reply, new OverloadedError('this host has too much to do'));
      return;
    }
    this.#inFlight += 1;
    void this.#answer(message, shard).finally(() => {
      this.#inFlight -= 1;
    });
  }

  async #answer({ data, reply }: Received, shard: number): Promise<void> {
    const { clock, logger, rejected } = this.#options;
    const arrivedMs = clock.monotonicMs();
    let deadlineMs = arrivedMs;
    try {
      const call = await this.#opened(data, arrivedMs);
      deadlineMs = arrivedMs + call.remainingMs;
      if (deadlineMs <= clock.monotonicMs()) return rejected.count('expired');
      const value = await this.#run(call, shard, deadlineMs);
      this.#send(reply, this.#packed({ kind: 'reply', value }, deadlineMs));
    } catch (error) {
      if (error instanceof FrameError) {
        rejected.count(error.reason);
        return this.#reject(reply, new TerminalError(error.message));
      }
      if (!(error instanceof ActorError)) {
        logger.error({ error: messageOf(error) }, 'a call failed');
      }
      this.#reject(reply, asActorError(error));
    }
  }

  async #opened(data: Uint8Array, arrivedMs: number): Promise<FrameOf<'call'>> {
    const frame = decodeFrame(data);
    this.#options.metrics.frame('in', frame.kind);
    const opened = frame.kind === 'held' ? await this.#pulled(frame, arrivedMs + frame.remainingMs) : frame;
    if (opened.kind !== 'call') throw new FrameError('kind', 'frames of this kind are no calls');
    return opened;
  }

  async #pulled(held: FrameOf<'held'>, deadlineMs: number): Promise<Frame> {
    try {
      return await this.#options.pulls.pull(held, deadlineMs);
    } catch (error) {
      if (error instanceof FrameError) throw error;
      throw new RetryableError('the call could not be fetched', {
        outcome: 'none',
        retryAfterMs: fetchRetryMs,
      });
    }
  }

  #run(call: FrameOf<'call'>, shard: number, deadlineMs: number): Promise<unknown> {
    const { shardCount, served, rejected, tracer } = this.#options;
    if (call.shards !== shardCount) {
      rejected.count('shard-count');
      throw new TerminalError(`the caller counts ${call.shards} shards where its cluster has ${shardCount}`);
    }
    const ask = served(shard);
    if (ask === undefined) throw new MovedError('this shard is not served here now');
    const { address, command, request, callId, epoch, trace } = call;
    const received = { address, command, request, callId, deadlineMs, epoch };
    const span =
      trace === undefined ? undefined : tracer?.continued(trace, `serve ${address.kind}.${command}`);
    if (span === undefined) return ask(received);
    return inSpan(span, () => ask({ ...received, span }));
  }

  /** The call was handled. Even if its reply cannot be kept for the caller, the call had its effect. */
  #packed(frame: FrameOf<'reply'>, deadlineMs: number): Packed {
    try {
      return this.#options.held.pack(frame, deadlineMs);
    } catch (error) {
      if (!(error instanceof OverloadedError)) throw error;
      throw new RetryableError('the reply could not be kept', { outcome: 'unknown' });
    }
  }

  #reject(reply: string | undefined, error: ActorError): void {
    const errorReply = errorReplyOf(error);
    this.#send(reply, { kind: errorReply.kind, bytes: encodeFrame(errorReply) });
  }

  #send(reply: string | undefined, { kind, bytes }: Pick<Packed, 'kind' | 'bytes'>): void {
    if (!reply) return;
    const { connection, metrics, rejected } = this.#options;
    try {
      connection.publish(reply, bytes);
      metrics.frame('out', kind);
    } catch {
      // The caller notices on its own side of the connection, or by its deadline.
      rejected.count('undeliverable');
    }
  }
}
