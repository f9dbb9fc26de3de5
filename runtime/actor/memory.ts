/**
 * Estimates the memory of plain values from their shape, by what V8 needs for each kind of value on 64 bits.
 * `benchmarks/memory.ts` compares the estimate with the heap. A text counts as Latin-1, because everything that clients encrypt
 * is. Any other text takes twice as much.
 */
const stringBytes = 24;
const heapNumberBytes = 16;
const bufferBytes = 136;
const arrayBytes = 48;
const objectBytes = 56;
const slotBytes = 8;
/** An object with this many fields is a hash table of its own. Objects with fewer share the description of their fields. */
const sharedFieldsMax = 24;
const hashedFieldBytes = 48;
/** The memory of a map's entry besides its key and value. */
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
  // Arrays hold numbers directly.
  for (const value of values) bytes += slotBytes + (typeof value === 'number' ? 0 : heapBytes(value));
  return bytes;
}

function objectOf(value: Readonly<Record<string, unknown>>): number {
  let bytes = objectBytes;
  let fields = 0;
  let nameBytes = 0;
  for (const name in value) {
    bytes += slotBytes + heapBytes(value[name]);
    nameBytes += hashedFieldBytes + textBytes(name);
    fields += 1;
  }
  return fields <= sharedFieldsMax ? bytes : bytes + nameBytes;
}

function isSmallInteger(value: number): boolean {
  return Number.isInteger(value) && value >= -smallIntegerMax && value < smallIntegerMax;
}
