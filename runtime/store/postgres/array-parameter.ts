/**
 * An array as a parameter of a statement: a commit sends every column of its rows as one.
 *
 * Ciphertext and bytes go in binary format. In text format each of their bytes would be looked at for quotes here, and
 * once more where the database parses them. Short texts go as the driver writes them: of those, one text for all costs
 * less than a call for each.
 *
 * The binary layout: dimensions, whether there are nulls, the type of the elements, their number, the first index. Then
 * for each element its length (-1 for null) and its bytes.
 */
import type { ColumnType } from '../../table.ts';

/** From this mean length on, texts go in binary format. */
const longLength = 64;
const headBytes = 20;
const lengthBytes = 4;
const typeIds = { bytea: 17, text: 25 } as const;

type Nullable<T> = readonly (T | null | undefined)[];

export function arrayParameter(type: ColumnType, values: readonly unknown[]): unknown {
  if (values.length === 0) return values;
  if (type === 'bytea') return arrayOfBytes(values as Nullable<Uint8Array>);
  return type === 'text' && areLong(values as Nullable<string>)
    ? arrayOfTexts(values as Nullable<string>)
    : values;
}

function areLong(values: Nullable<string>): boolean {
  let length = 0;
  for (const value of values) length += value?.length ?? 0;
  return length >= longLength * values.length;
}

function arrayOfBytes(values: Nullable<Uint8Array>): Buffer {
  const lengths = values.map((value) => value?.length ?? -1);
  return filled(typeIds.bytea, lengths, (array, at, index) => array.set(values[index] ?? [], at));
}

function arrayOfTexts(values: Nullable<string>): Buffer {
  const lengths = values.map((value) =>
    value === null || value === undefined ? -1 : Buffer.byteLength(value),
  );
  return filled(typeIds.text, lengths, (array, at, index) => array.write(values[index] ?? '', at));
}

function filled(
  typeId: number,
  lengths: readonly number[],
  write: (array: Buffer, at: number, index: number) => void,
): Buffer {
  const bytes = lengths.reduce((sum, length) => sum + lengthBytes + Math.max(0, length), headBytes);
  const array = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const field of [1, lengths.includes(-1) ? 1 : 0, typeId, lengths.length, 1])
    at = array.writeInt32BE(field, at);
  for (const [index, length] of lengths.entries()) {
    at = array.writeInt32BE(length, at);
    if (length <= 0) continue;
    write(array, at, index);
    at += length;
  }
  return array;
}
