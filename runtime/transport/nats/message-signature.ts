/**
 * The signature on every message between processes, made with a key derived from the root secret. Access to NATS does not make a
 * sender a process of the cluster.
 *
 *   byte 0          the format, above all versions that frames without a signature ever had
 *   bytes 1-6       when it was signed, in milliseconds since the epoch
 *   bytes 7-        the frame
 *   last 16 bytes   the first half of HMAC-SHA256 over the subject, the subject for its answer, and the bytes before
 *
 * It prevents calls, replies, hints, events, parts and wake-ups of strangers. It also prevents changes to a message, and its
 * replay to another subject or with another subject for its answer. An answer is signed for the subject of one request of one
 * process, and is valid for no other.
 *
 * It does not prevent reading, which is for TLS and NATS permissions. It does not prevent holding a message back, or replaying it
 * to the same subject within `staleMs`. The transport never promised otherwise: a call may come twice, and late. A stranger may
 * also pretend that a call's subject has no listener, because NATS reports that by a message without a signature.
 *
 * A message without a valid signature is never answered: the answer would carry our signature to a subject of the stranger's choice.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { FrameError } from './frame.ts';

const format = 2;
const timeAt = 1;
const timeBytes = 6;
const frameAt = timeAt + timeBytes;
const macBytes = 16;

/** A wake-up waits for up to five minutes in its stream, and the clocks of two machines may differ by as much. */
const staleMs = 600_000;

export interface SignedMessage {
  readonly subject: string;
  readonly reply?: string | undefined;
  readonly data: Uint8Array;
}

export interface MessageSigner {
  /** Signs a frame that goes to `subject`, with its answer to `reply`. */
  sign(frame: Uint8Array, subject: string, reply?: string): Buffer;
  /** The frame that a process of this cluster has sent there. @throws FrameError */
  verify(message: SignedMessage): Uint8Array;
}

export function createMessageSigner(key: Buffer, clock: Pick<Clock, 'nowMs'>): MessageSigner {
  const hmac = createHmacSha256(key);
  /** Subjects hold no spaces. */
  const macOf = (signed: Uint8Array, subject: string, reply: string): Buffer =>
    hmac([subject, reply, ''].join(' '), signed).subarray(0, macBytes);

  return {
    sign(frame, subject, reply = '') {
      const message = Buffer.allocUnsafe(frameAt + frame.length + macBytes);
      message[0] = format;
      message.writeUIntBE(clock.nowMs(), timeAt, timeBytes);
      message.set(frame, frameAt);
      const end = frameAt + frame.length;
      message.set(macOf(message.subarray(0, end), subject, reply), end);
      return message;
    },

    verify({ subject, reply = '', data }) {
      const message = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      const end = message.length - macBytes;
      if (message.length > 0 && message[0] !== format) {
        throw new FrameError('version', 'messages of this format are not known here');
      }
      if (end < frameAt) throw new FrameError('corrupt', 'the message is too short for a signature');
      if (!timingSafeEqual(message.subarray(end), macOf(message.subarray(0, end), subject, reply))) {
        throw new FrameError('mac', 'the message is not signed with the key of this cluster');
      }
      const agoMs = clock.nowMs() - message.readUIntBE(timeAt, timeBytes);
      if (Math.abs(agoMs) > staleMs)
        throw new FrameError('stale', 'the message is too old, or a clock is wrong');
      return message.subarray(frameAt, end);
    },
  };
}

const blockBytes = 64;

/** RFC 2104 over two one-shot hashes: the library's HMAC object costs as much as the call it would sign. */
export function createHmacSha256(key: Buffer): (context: string, bytes: Uint8Array) => Buffer {
  if (key.length > blockBytes) throw new RangeError('the key is longer than a block');
  const padded = (pad: number) => {
    const block = Buffer.alloc(blockBytes);
    key.copy(block);
    return block.map((byte) => byte ^ pad);
  };
  const innerPad = padded(0x36);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(32)]);
  return (context, bytes) => {
    const bytesAt = blockBytes + Buffer.byteLength(context);
    const inner = Buffer.allocUnsafe(bytesAt + bytes.length);
    inner.set(innerPad);
    inner.write(context, blockBytes);
    inner.set(bytes, bytesAt);
    // Text comes back faster than a buffer.
    outer.write(hash('sha256', inner, 'hex'), blockBytes, 'hex');
    return Buffer.from(hash('sha256', outer, 'hex'), 'hex');
  };
}
