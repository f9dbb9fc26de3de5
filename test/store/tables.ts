/** Tables that between them use every feature of a declaration. */
import { type RowOf, table } from '../../runtime/table.ts';

/** Like the items of a collection: born at a position, unique on the server, large content. */
export const noteTable = table({
  name: 'note',
  columns: {
    owner_uuid: 'uuid',
    uuid: 'uuid',
    position: 'int8',
    content: 'text?',
    size: 'int8',
    deleted: 'bool',
    digest: 'bytea?',
  },
  key: ['owner_uuid', 'uuid'],
  generation: 'position',
  unique: [['uuid']],
  order: 'position',
  size: 'size',
  large: 'content',
  subsets: { live: { column: 'deleted', values: [false], indexed: true } },
});

/** Born, but with a key that no server-wide unique key implies. */
export const seatTable = table({
  name: 'seat',
  columns: { owner_uuid: 'uuid', number: 'int8', born: 'int8', code: 'text?', region: 'text?' },
  key: ['owner_uuid', 'number'],
  generation: 'born',
  unique: [['code', 'region']],
});

/** Without a generation: a plain upsert, whose large value may replace one that was never read. */
export const letterTable = table({
  name: 'letter',
  columns: { owner_uuid: 'uuid', name: 'text', body: 'text?' },
  key: ['owner_uuid', 'name'],
  large: 'body',
});

/** Like an item that moves from owner to owner, and leaves a row at each. */
export const parcelTable = table({
  name: 'parcel',
  columns: {
    owner_uuid: 'uuid',
    uuid: 'uuid',
    position: 'int8',
    made: 'int8',
    born: 'bool?',
    hop: 'int8?',
  },
  key: ['owner_uuid', 'uuid'],
  generation: 'made',
  unique: [
    ['uuid', 'hop'],
    ['uuid', 'born'],
  ],
  sparse: ['hop'],
  keyImplied: true,
  order: 'position',
  succession: { of: 'uuid', by: 'hop' },
});

/** The users who may read the notes of an owner. */
export const memberTable = table({
  name: 'member',
  columns: { owner_uuid: 'uuid', member_uuid: 'uuid', since: 'int8' },
  key: ['owner_uuid', 'member_uuid'],
});

export const contractTables = [noteTable, seatTable, letterTable, parcelTable, memberTable] as const;

export const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

export const parcel = (
  owner: string,
  id: string,
  changes: Partial<RowOf<typeof parcelTable>>,
): RowOf<typeof parcelTable> => ({
  owner_uuid: owner,
  uuid: id,
  position: 1,
  made: 1,
  born: null,
  hop: null,
  ...changes,
});

export function note(owner: string, id: string, changes: Partial<RowOf<typeof noteTable>> = {}) {
  return {
    owner_uuid: owner,
    uuid: id,
    position: 1,
    content: 'text',
    size: 4,
    deleted: false,
    digest: null,
    ...changes,
  };
}
