/**
 * Calls of other processes, the owner's side. Any message at a shard's subject that names where to answer gets a reply or an
 * error reply. No message can make this throw. A call whose deadline has passed is dropped before it runs, because its caller
 * no longer waits.
 *
 * The claim of the call is compared first. A call that also came to another process is refused as "moved" here, which promises
 * nothing. Only the owner that it is for says "overloaded" or "not fetched", and only there is it certain that nothing took
 * effect. A large call is fetched by its owner alone, because its parts can be fetched only once.
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
import { assertSameClaim } from '../owner-epochs.ts';
import type { TransportHandler } from '../transport.ts';
import type { ClusterConnection, ReceivedMessage } from './connection.ts';
import { asActorError, errorReplyOf } from './error-reply.ts';
import { decodeFrame, encodeFrame, type Frame, FrameError, type FrameOf } from './frame.ts';
import type { LargeMessageReceiver } from './large-message-receiver.ts';
import type { LargeMessageSender, PackedFrame } from './large-message-sender.ts';
import type { RejectedFrames, TransportMetrics } from './metrics.ts';

const inFlightMax = 20_000;
const fetchRetryMs = 100;

export interface CallReceiverOptions {
  readonly connection: ClusterConnection;
  readonly held: LargeMessageSender;
  readonly pulls: LargeMessageReceiver;
  readonly shardCount: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: TransportMetrics;
  readonly rejected: RejectedFrames;
  readonly tracer?: Tracer | undefined;
  /** What answers calls to this shard, if they should come here. */
  readonly handlerOf: (shard: number) => Pick<TransportHandler, 'askFromRemote' | 'epochOf'> | undefined;
}

export class CallReceiver {
  readonly #options: CallReceiverOptions;
  #inFlight = 0;

  constructor(options: CallReceiverOptions) {
    this.#options = options;
  }

  /** Takes a message at the subject of a shard. */
  take(message: ReceivedMessage, shard: number): void {
    void this.#answer(message, shard);
  }

  async #answer({ data, reply }: ReceivedMessage, shard: number): Promise<void> {
    const { clock, logger, rejected } = this.#options;
    const arrivedMs = clock.monotonicMs();
    try {
      const frame = this.#decodeCall(data);
      this.#ownerOf(shard, frame.epoch);
      const answer = await this.#withSlot(() => this.#execute(frame, shard, arrivedMs));
      if (answer !== undefined) this.#send(reply, answer);
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

  /** The call, or the frame that says where to fetch it. */
  #decodeCall(data: Uint8Array): FrameOf<'call' | 'held'> {
    const frame = decodeFrame(data);
    this.#options.metrics.frame('in', frame.kind);
    if (frame.kind !== 'call' && frame.kind !== 'held') throw notACall();
    return frame;
  }

  /** @throws MovedError: this process does not own the shard by the claim that the call names */
  #ownerOf(shard: number, named: number | undefined): Pick<TransportHandler, 'askFromRemote'> {
    const handler = this.#options.handlerOf(shard);
    const epoch = handler?.epochOf(shard);
    if (handler === undefined || epoch === undefined)
      throw new MovedError('this shard is not served here now');
    assertSameClaim(epoch, named);
    return handler;
  }

  async #withSlot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inFlight >= inFlightMax) throw new OverloadedError('this host has too much to do');
    this.#inFlight += 1;
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** Undefined if the caller no longer waits. */
  async #execute(
    frame: FrameOf<'call' | 'held'>,
    shard: number,
    arrivedMs: number,
  ): Promise<PackedFrame | undefined> {
    const { clock, rejected } = this.#options;
    const call = frame.kind === 'held' ? await this.#fetchCall(frame, arrivedMs + frame.remainingMs) : frame;
    if (call.kind !== 'call') throw notACall();
    const deadlineMs = arrivedMs + call.remainingMs;
    if (deadlineMs <= clock.monotonicMs()) {
      rejected.count('expired');
      return undefined;
    }
    const value = await this.#run(call, shard, deadlineMs);
    return this.#packReply({ kind: 'reply', value }, deadlineMs);
  }

  async #fetchCall(held: FrameOf<'held'>, deadlineMs: number): Promise<Frame> {
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
    const { shardCount, rejected, tracer } = this.#options;
    if (call.shards !== shardCount) {
      rejected.count('shard-count');
      throw new TerminalError(`the caller counts ${call.shards} shards where its cluster has ${shardCount}`);
    }
    const { address, command, request, callId, epoch, trace } = call;
    // The shard may have moved while the call was fetched.
    const owner = this.#ownerOf(shard, epoch);
    const received = { address, command, request, callId, deadlineMs, epoch };
    const span =
      trace === undefined ? undefined : tracer?.continued(trace, `serve ${address.kind}.${command}`);
    if (span === undefined) return owner.askFromRemote(received);
    return inSpan(span, () => owner.askFromRemote({ ...received, span }));
  }

  /** The call was handled. Even if its reply cannot be kept for the caller, the call had its effect. */
  #packReply(frame: FrameOf<'reply'>, deadlineMs: number): PackedFrame {
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

  #send(reply: string | undefined, { kind, bytes }: Pick<PackedFrame, 'kind' | 'bytes'>): void {
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

const notACall = () => new FrameError('kind', 'frames of this kind are no calls');
