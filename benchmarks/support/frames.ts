/** Frames of WebSocket as a client reads and writes them, and those of the sync lane that it sends in them. */

export const opcodes = { text: 1, ping: 9 } as const;

/** Masked with zeros, because client frames must be masked. */
export const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** For less than 64 KiB. Masked with zeros. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const { length } = payload;
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([0x81, ...size, 0, 0, 0, 0]), payload]);
}

interface ServerFrame {
  readonly opcode: number;
  /** Where its payload is. */
  readonly start: number;
  readonly end: number;
}

/** The first frame in `bytes`, as servers send them: not masked. Undefined while it is incomplete. */
export function parseFrame(bytes: Buffer): ServerFrame | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 127;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : bytes.readUInt32BE(6);
  const end = start + length;
  return bytes.length < end ? undefined : { opcode: bytes.readUInt8(0) & 15, start, end };
}

/**
 * A frame of the sync lane, as the reference client makes it (docs/protocol/sync-lane-client.ts), but written by hand. `payload` is JSON
 * of ASCII characters.
 */
export const laneFrame = (type: string, sequence: number, payload: string): string =>
  `{"version":1,"channel":"sync","type":"${type}","requestId":"request-${sequence}","commandId":"request-${sequence}",` +
  `"sequence":${sequence},"payloadLength":${payload.length},"payload":${payload}}`;
