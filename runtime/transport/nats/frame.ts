/**
 * Frames: the messages between processes of one cluster over NATS. A frame is one byte of format version, then msgpack of an
 * object with its `kind`. Each goes in a signed message (`message-signature.ts`).
 *
 * Fields that a newer release added are dropped. A newer version and an unknown kind are rejected as such, so that both sides
 * of a mixed cluster can tell. Times are spans and never points, because the clocks of two processes share nothing. The time on
 * the way does not count against a span. That is harmless: the caller keeps its own deadline, and a call may come late in any
 * case.
 */
import { z } from 'zod';
import { decode, encode, NewerFormatError } from '../../store/encoding.ts';

const version = 1;
/** The largest piece of a message that goes in one frame, and what a frame adds to it. Brokers take 1 MiB. */
export const partBytes = 512 * 1_024;
export const natsFrameBytesMax = partBytes + 1_024;
/** The sender holds a larger message, and its receiver pulls it (`large-message-sender.ts`). */
export const inlineBytesMax = 64 * 1_024;
export const messageBytesMax = 64 * 1_024 * 1_024;

const address = z.object({ kind: z.string(), id: z.string() });
const shards = z.array(z.int().nonnegative());

/** The epoch of a claim. Absent in messages of an earlier release. */
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

/** A `traceparent`, if the request is sampled. */
const trace = z.string().optional();

const callFrame = z.object({
  kind: z.literal('call'),
  callId: z.string(),
  /** The incarnation of the caller, and the shard count it knows. */
  from: z.string(),
  shards: z.int(),
  remainingMs: z.number(),
  address,
  command: z.string(),
  request: z.unknown(),
  epoch,
  trace,
});

const replyFrame = z.object({ kind: z.literal('reply'), value: z.unknown() });

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

/** Stands for a frame that is too large to send unasked. */
const heldFrame = z.object({
  kind: z.literal('held'),
  /** The incarnation of the process that holds it, and its name there. */
  from: z.string(),
  id: z.string(),
  bytes: z.int().positive().max(messageBytesMax),
  remainingMs: z.number(),
  /** If it stands for a call: the epoch of that call. */
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

/** A received message is not a frame known here, or does not belong at its subject. */
export class FrameError extends Error {
  readonly reason: 'version' | 'kind' | 'corrupt' | 'mac' | 'stale';
  constructor(reason: FrameError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export const encodeFrame = (of: Frame): Buffer => encode(version, of);

/** @throws FrameError */
export function decodeFrame(bytes: Uint8Array): Frame {
  const value = unpacked(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
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

function unpacked(bytes: Buffer): unknown {
  try {
    return decode(bytes, version);
  } catch (error) {
    if (error instanceof NewerFormatError) {
      throw new FrameError('version', `frames of this version are not known here: ${error.message}`);
    }
    throw new FrameError('corrupt', 'the frame is not readable');
  }
}
