/**
 * What plain values take in memory, estimated from their shape: what V8 needs for each kind of value on 64 bits, held
 * against the heap by `benchmarks/memory.ts`. A text is taken to be Latin-1, as all that clients encrypt is; one that is not
 * takes twice as much.
 */
const stringBytes = 24;
const heapNumberBytes = 16;
const bufferBytes = 136;
const arrayBytes = 48;
const objectBytes = 56;
const slotBytes = 8;
/** An object of so many fields is a hash table of its own; those of fewer share what describes their fields. */
const sharedFieldsMax = 24;
const hashedFieldBytes = 48;
/** What a map needs for an entry, beside key and value. */
export const mapEntryBytes = 48;

const smallIntegerMax = 2 ** 31;

export function heapBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value === 'number') return isSmallInteger(value) ? 0 : heapNumberBytes;
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof Uint8Array) return bufferBytes + value.length;
  if (Array.isArray(value)) return arrayOf(value);
  return objectOf(value as Readonly<Record<string, unknown>>);
}

export const textBytes = (text: string): number => stringBytes + text.length;

function arrayOf(values: readonly unknown[]): number {
  let bytes = arrayBytes;
  // Numbers stand in an array as they are.
  for (const value of values) bytes += slotBytes + (typeof value === 'number' ? 0 : heapBytes(value));
  return bytes;
}

function objectOf(value: Readonly<Record<string, unknown>>): number {
  let bytes = objectBytes;
  let fields = 0;
  for (const name in value) {
    bytes += slotBytes + heapBytes(value[name]);
    fields += 1;
  }
  if (fields <= sharedFieldsMax) return bytes;
  for (const name in value) bytes += hashedFieldBytes + textBytes(name);
  return bytes;
}

function isSmallInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -smallIntegerMax && value < smallIntegerMax;
}
