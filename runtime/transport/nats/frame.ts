/**
 * Frames: the messages between processes of one cluster over NATS. A frame is one byte of format version, then msgpack of an
 * object with its `kind`. Each goes in a signed message (`message-signature.ts`).
 *
 * Fields that a newer release added are dropped. A newer version and an unknown kind are rejected as such, so that both sides
 * of a mixed cluster can tell. Times are durations and never timestamps, because the clocks of two processes may differ. The time
 * that a frame travels is not subtracted from them. That is harmless: the caller keeps its own deadline, and a receiver has to
 * expect late calls anyway.
 */
import { z } from 'zod';
import { decode, encode, NewerFormatError } from '../../store/encoding.ts';

const version = 1;
/** The largest part of a message in one frame. With what the frame adds, it stays below the 1 MiB that brokers accept. */
export const partBytes = 512 * 1_024;
export const natsFrameBytesMax = partBytes + 1_024;
/** The sender holds a larger message, and its receiver fetches it (`large-message-sender.ts`). */
export const inlineBytesMax = 64 * 1_024;
export const messageBytesMax = 64 * 1_024 * 1_024;

const address = z.object({ kind: z.string(), id: z.string() });
const shards = z.array(z.int().nonnegative());

/** The epoch of the owner's claim to a shard. Absent in messages of an earlier release. */
const epoch = z.int().nonnegative().optional();

const hint = z.discriminatedUnion('hint', [
  z.object({ hint: z.literal('nodes') }),
  z.object({ hint: z.literal('joined'), node: z.string() }),
  z.object({ hint: z.literal('freed'), shards }),
  z.object({ hint: z.literal('claimed'), shards, host: z.string(), epoch }),
  z.object({ hint: z.literal('present'), host: z.string() }),
  z.object({ hint: z.literal('returned'), shards, host: z.string() }),
  z.object({ hint: z.literal('rebalance') }),
]);

/** The `traceparent` of the request (W3C Trace Context), if its trace is sampled. */
const trace = z.string().optional();

const callFrame = z.object({
  kind: z.literal('call'),
  callId: z.string(),
  /** The incarnation of the caller. */
  from: z.string(),
  /** The number of shards that the caller assumes. A receiver with another number refuses the call. */
  shards: z.int(),
  remainingMs: z.number(),
  address,
  command: z.string(),
  request: z.unknown(),
  epoch,
  trace,
});

const replyFrame = z.object({ kind: z.literal('reply'), value: z.unknown() });

/** An error instead of a reply. A refusal of the domain is a reply. */
const errorReplyFrame = z.object({
  kind: z.literal('refusal'),
  class: z.enum([
    'terminal',
    'retryable',
    'fenced',
    'overloaded',
    'unavailable',
    'moved',
    'not-found',
    'forbidden',
  ]),
  message: z.string(),
  outcome: z.enum(['none', 'unknown']).optional(),
  retryAfterMs: z.number().nonnegative().optional(),
  epoch,
});

/** Stands for a frame that is too large to send before its receiver asks for it. */
const heldFrame = z.object({
  kind: z.literal('held'),
  /** The incarnation of the process that holds the message. */
  from: z.string(),
  /** Names the message in that process. */
  id: z.string(),
  bytes: z.int().positive().max(messageBytesMax),
  remainingMs: z.number(),
  /** The epoch of the call that it stands for, if it stands for a call. */
  epoch,
});

const fetchFrame = z.object({ kind: z.literal('fetch'), id: z.string(), part: z.int().nonnegative() });
const partFrame = z.object({
  kind: z.literal('part'),
  bytes: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array),
});
const hintFrame = z.object({
  kind: z.literal('hint'),
  from: z.string(),
  /** Counts the hints of this incarnation. */
  number: z.int().positive(),
  hint,
});
const eventFrame = z.object({
  kind: z.literal('event'),
  host: z.string(),
  sequence: z.number(),
  address,
  event: z.unknown(),
  trace,
});
const wakeFrame = z.object({ kind: z.literal('wake'), tellId: z.string(), target: address });

const frame = z.discriminatedUnion('kind', [
  callFrame,
  replyFrame,
  errorReplyFrame,
  heldFrame,
  fetchFrame,
  partFrame,
  hintFrame,
  eventFrame,
  wakeFrame,
]);

export type Frame = z.infer<typeof frame>;
export type FrameKind = Frame['kind'];
export type FrameOf<K extends FrameKind> = Extract<Frame, { kind: K }>;

const kinds: ReadonlySet<unknown> = new Set(frame.options.map((option) => option.shape.kind.value));

/** A received message is no frame that this release knows, or arrived at the wrong subject. */
export class FrameError extends Error {
  readonly reason: 'version' | 'kind' | 'corrupt' | 'mac' | 'stale';
  constructor(reason: FrameError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export const encodeFrame = (value: Frame): Buffer => encode(version, value);

/** @throws FrameError */
export function decodeFrame(bytes: Uint8Array): Frame {
  const value = unpack(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const parsed = frame.safeParse(value);
  if (parsed.success) return parsed.data;
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
  if (typeof kind !== 'string' || kinds.has(kind))
    throw new FrameError('corrupt', 'the frame is not readable');
  throw new FrameError('kind', 'frames of this kind are not known here');
}

/** @throws FrameError also for a known frame of another kind */
export function decodeFrameOf<K extends FrameKind>(bytes: Uint8Array, expected: K): FrameOf<K> {
  const decoded = decodeFrame(bytes);
  if (decoded.kind !== expected) throw new FrameError('kind', 'frames of this kind do not belong here');
  return decoded as FrameOf<K>;
}

function unpack(bytes: Buffer): unknown {
  try {
    return decode(bytes, version);
  } catch (error) {
    if (error instanceof NewerFormatError) {
      throw new FrameError('version', `frames of this version are not known here: ${error.message}`);
    }
    throw new FrameError('corrupt', 'the frame is not readable');
  }
}
