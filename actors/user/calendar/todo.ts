/** A to-do as it is stored and shown (docs/protocol/calendar.md, "To-dos"). */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import type { TodoRow } from './todo-table.ts';

/** Dates and times as texts: `2026-03-01`, or in UTC with milliseconds. */
const todoSchema = z.object({
  summary: z.string(),
  description: z.string().optional(),
  start: z.string().optional(),
  due: z.string().optional(),
  completed: z.boolean(),
  completedAt: z.string().optional(),
  priority: z.int().optional(),
});
/** What its client says of it. */
export type Todo = z.infer<typeof todoSchema>;

export const shownTodoSchema = todoSchema.extend({
  uid: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type ShownTodo = z.infer<typeof shownTodoSchema>;

const sealedFor = (view: View, uid: string) => ({ userUuid: view.self.id, purpose: `to-do ${uid}` });

export const sealTodo = (turn: Turn, uid: string, todo: Todo): Buffer =>
  turn.use(UserSecrets).seal(sealedFor(turn, uid), JSON.stringify(todo), turn.random);

export function openTodo(view: View, { uid, contents, ...row }: TodoRow): ShownTodo {
  const todo = todoSchema.parse(JSON.parse(view.use(UserSecrets).open(sealedFor(view, uid), contents)));
  return { uid, ...todo, createdAt: row.created_at, updatedAt: row.updated_at };
}
