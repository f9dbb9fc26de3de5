/** The to-dos that an account has published, one row each. */
import { type RowOf, table } from '../../../runtime/table.ts';

export const todoTable = table({
  name: 'calendar_todo',
  columns: {
    user_uuid: 'uuid',
    /** The client's, or made here. */
    uid: 'text',
    position: 'int8',
    /** A `Todo`, sealed. */
    contents: 'bytea',
    /** The ETag and the bytes of the object that calendar programs read, so that a list of objects opens none of them. */
    etag: 'text',
    object_bytes: 'int8',
    /** What it takes of the room that an account has. */
    size: 'int8',
    /** Both in milliseconds. */
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['user_uuid', 'uid'],
  order: 'position',
});
export type TodoRow = RowOf<typeof todoTable>;
