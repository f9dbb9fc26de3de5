/**
 * Large messages, the sender's side. A NATS server cuts off a client that it cannot write to fast enough, such as a process
 * that gets a lot at once. So a message larger than a frame should be is held here. A small frame that names it goes instead.
 * The receiver fetches it part by part over the bulk connection, as fast as it can take it (`large-message-receiver.ts`).
 *
 *   sender: hold, send `held` -> receiver: `fetch` part 0..n, a few at a time -> sender: forgets it
 *
 * The sender forgets a message when every part was fetched once, when its call has ended, or at that call's deadline. No part
 * is fetched twice. A receiver that has lost a part gives up the whole, and the call is repeated or not like any other with a
 * lost message. If the holder dies, a fetch fails because its subject has no listener.
 */
import type { Clock } from '../../clock.ts';
import { ActorError, NotFoundError, OverloadedError, TerminalError } from '../../errors.ts';
import type { ClusterConnection, ReceivedMessage } from './connection.ts';
import { errorReplyOf } from './error-reply.ts';
import {
  decodeFrameOf,
  encodeFrame,
  type Frame,
  FrameError,
  type FrameKind,
  inlineBytesMax,
  messageBytesMax,
  partBytes,
} from './frame.ts';
import type { RejectedFrames, TransportMetrics } from './metrics.ts';

const heldBytesMax = 256 * 1_024 * 1_024;
const sweepMs = 1_000;

interface HeldMessage {
  readonly bytes: Buffer;
  readonly deadlineMs: number;
  readonly missing: Set<number>;
}

export interface LargeMessageSenderOptions {
  readonly connection: Pick<ClusterConnection, 'subscribe' | 'publish'>;
  /** The subject for requests of parts. */
  readonly subject: string;
  readonly incarnation: string;
  readonly clock: Clock;
  readonly metrics: TransportMetrics;
  readonly rejected: RejectedFrames;
}

/** A frame to send, and the held message that it stands for, if any. */
export interface PackedFrame {
  readonly kind: FrameKind;
  readonly bytes: Buffer;
  readonly heldId: string | undefined;
}

export class LargeMessageSender {
  readonly #options: LargeMessageSenderOptions;
  readonly #held = new Map<string, HeldMessage>();
  #bytes = 0;
  #lastId = 0;
  #isSweeping = false;

  constructor(options: LargeMessageSenderOptions) {
    this.#options = options;
    options.connection.subscribe(options.subject, { take: (message) => this.#fetched(message) });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws OverloadedError, TerminalError: nothing is held */
  pack(frame: Frame, deadlineMs: number): PackedFrame {
    const bytes = encodeFrame(frame);
    if (bytes.length <= inlineBytesMax) return { kind: frame.kind, bytes, heldId: undefined };
    if (bytes.length > messageBytesMax) throw new TerminalError('the message is too large to be sent');
    if (this.#bytes + bytes.length > heldBytesMax) {
      throw new OverloadedError('too many large messages wait to be fetched');
    }
    this.#lastId += 1;
    const id = this.#lastId.toString(36);
    const parts = Math.ceil(bytes.length / partBytes);
    this.#held.set(id, {
      bytes,
      deadlineMs,
      missing: new Set(Array.from({ length: parts }, (_, part) => part)),
    });
    this.#bytes += bytes.length;
    if (!this.#isSweeping) this.#sweepLater();
    const remainingMs = deadlineMs - this.#options.clock.monotonicMs();
    const held = {
      kind: 'held',
      from: this.#options.incarnation,
      id,
      bytes: bytes.length,
      remainingMs,
      ...(frame.kind === 'call' && { epoch: frame.epoch }),
    } as const;
    return { kind: 'held', bytes: encodeFrame(held), heldId: id };
  }

  forget(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    this.#bytes -= held.bytes.length;
  }

  #fetched(message: ReceivedMessage): void {
    const { connection, metrics, rejected } = this.#options;
    if (!message.reply) return;
    try {
      const answer = this.#part(message.data);
      connection.publish(message.reply, encodeFrame(answer));
      metrics.frame('out', answer.kind);
    } catch {
      // The connection was lost or is full. The receiver gets no answer in time, and gives up.
      rejected.count('undeliverable');
    }
  }

  #part(request: Uint8Array): Frame {
    const { metrics, rejected } = this.#options;
    try {
      const { id, part } = decodeFrameOf(request, 'fetch');
      metrics.frame('in', 'fetch');
      const held = this.#held.get(id);
      if (!held?.missing.delete(part)) throw new NotFoundError('this is not held, or not any more');
      if (held.missing.size === 0) this.forget(id);
      return { kind: 'part', bytes: held.bytes.subarray(part * partBytes, (part + 1) * partBytes) };
    } catch (error) {
      if (error instanceof FrameError) {
        rejected.count(error.reason);
        return errorReplyOf(new TerminalError(error.message));
      }
      if (error instanceof ActorError) return errorReplyOf(error);
      throw error;
    }
  }

  #sweepLater(): void {
    this.#isSweeping = true;
    this.#options.clock.schedule(sweepMs, () => {
      this.#isSweeping = false;
      const nowMs = this.#options.clock.monotonicMs();
      for (const [id, { deadlineMs }] of this.#held) if (deadlineMs <= nowMs) this.forget(id);
      if (this.#held.size > 0) this.#sweepLater();
    });
  }
}
