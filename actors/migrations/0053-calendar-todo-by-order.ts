import type { Migration } from '../../runtime/migration.ts';

export const calendarTodoByOrder: Migration = {
  id: 'domain-0053-calendar-todo-by-order',
  sql: 'CREATE INDEX IF NOT EXISTS calendar_todo_by_order ON calendar_todo (user_uuid, position)',
};
