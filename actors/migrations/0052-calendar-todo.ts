import type { Migration } from '../../runtime/migration.ts';

export const calendarTodo: Migration = {
  id: 'domain-0052-calendar-todo',
  sql: `
    CREATE TABLE IF NOT EXISTS calendar_todo (
      user_uuid uuid NOT NULL,
      uid text NOT NULL,
      position int8 NOT NULL,
      contents bytea NOT NULL,
      etag text NOT NULL,
      object_bytes int8 NOT NULL,
      size int8 NOT NULL,
      created_at int8 NOT NULL,
      updated_at int8 NOT NULL,
      PRIMARY KEY (user_uuid, uid)
    )`,
};
