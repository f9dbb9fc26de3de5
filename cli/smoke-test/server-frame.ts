/** A WebSocket frame as servers send it, which is not masked. */
export interface WebSocketFrame {
  readonly opcode: number;
  /** The payload is from `start` to before `end`. */
  readonly start: number;
  readonly end: number;
}

/** The first frame in `bytes`. Undefined while it is incomplete. */
export function parseFrame(bytes: Buffer): WebSocketFrame | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 127;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return undefined;
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const end = start + length;
  return bytes.length < end ? undefined : { opcode: bytes.readUInt8(0) & 15, start, end };
}
