import type { Kind } from '../kind.ts';
import type { Slice, SliceMap } from '../slice.ts';
import { decode } from '../store/encoding.ts';
import type { SliceRow } from '../store/store.ts';
import { tombstoneSlice } from '../store/tables.ts';

/**
 * The slices of an actor as its kind declares them. A slice of a name the kind no longer declares is left alone
 * in the database. @throws when a stored slice is of a newer format or does not fit its schema.
 */
export function* decodeSlices(kind: Kind, rows: readonly SliceRow[]): Generator<[string, unknown]> {
  for (const { slice, data } of rows) {
    if (slice === tombstoneSlice) yield [slice, true];
    const declared = declaration(kind, slice);
    if (declared === undefined) continue;
    yield [slice, declared.schema.parse(decode(data, declared.format))];
  }
}

function declaration(kind: Kind, name: string): Slice<unknown> | SliceMap<unknown> | undefined {
  const colon = name.indexOf(':');
  const family = colon === -1 ? undefined : name.slice(0, colon);
  return kind.slices.find((declared) =>
    'family' in declared ? declared.family === family : declared.name === name,
  );
}
