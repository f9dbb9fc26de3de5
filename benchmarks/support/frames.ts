/** Frames of WebSocket as a client writes them, and those of the sync lane that it sends in them. */

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

/**
 * A frame of the sync lane, as the reference client makes it (docs/protocol/sync-lane-client.ts), but written by hand. `payload` is JSON
 * of ASCII characters.
 */
export const laneFrame = (type: string, sequence: number, payload: string): string =>
  `{"version":1,"channel":"sync","type":"${type}","requestId":"request-${sequence}","commandId":"request-${sequence}",` +
  `"sequence":${sequence},"payloadLength":${payload.length},"payload":${payload}}`;
