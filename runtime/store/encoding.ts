/**
 * How slices, payloads and recorded replies become bytes: one byte of format version, then msgpack. The schema that reads a
 * value drops the unknown fields of a newer release. A newer format is an error, so that the host releases the actor instead of
 * damaging it.
 */
import { Packr } from 'msgpackr';

const packr = new Packr({ useRecords: false, variableMapSize: true });

export class NewerFormatError extends Error {}

export function encode(format: number, value: unknown): Buffer {
  const body = packr.pack(value);
  const bytes = Buffer.allocUnsafe(body.length + 1);
  bytes[0] = format;
  body.copy(bytes, 1);
  return bytes;
}

/** The value, written in a format up to `formatMax`. @throws NewerFormatError */
export function decode(bytes: Buffer, formatMax: number): unknown {
  const format = bytes[0] ?? 0;
  if (format > formatMax) throw new NewerFormatError(`format ${format} is newer than ${formatMax}`);
  return packr.unpack(bytes.subarray(1));
}
