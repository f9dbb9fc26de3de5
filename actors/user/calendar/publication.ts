/**
 * The head of what an account has published. It changes with each to-do, so a reader that knows its ctag knows whether there is
 * anything new.
 */
import { z } from 'zod';
import { range, type Turn, type View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { calendarOf } from '../../icalendar.ts';
import { releaseSlots } from './slots.ts';
import {
  componentOf,
  etagOf,
  sealedTodos,
  type Todo,
  type TodoResponse,
  type TodoRow,
  todoTable,
} from './todo.ts';

export const todosMax = 10_000;
export const todoCapacityBytes = 16 * 1024 * 1024;

export const publicationSlice = slice({
  name: 'calendar-publication',
  schema: z.object({
    /** The highest position that a to-do has ever had. */
    position: z.int(),
    changedAtMs: z.number(),
    todos: z.int(),
    bytes: z.int(),
    /** Set while there is any to-do. */
    slot: z.string().nullable(),
  }),
  initial: { position: 0, changedAtMs: 0, todos: 0, bytes: 0, slot: null },
});

/** It includes the time, because a restored database counts its positions again. */
export function ctagOf(view: View): string {
  const { position, changedAtMs } = view.get(publicationSlice);
  return `${position.toString(36)}-${changedAtMs.toString(36)}`;
}

interface CalendarPart {
  readonly after?: number;
  readonly limit?: number;
  readonly columns?: readonly (keyof TodoRow)[];
}

/** All to-dos, or a part of them. */
export const todosPlan = (view: View, part: CalendarPart = {}) =>
  range(todoTable, {
    after: 0,
    limit: todosMax,
    ...part,
    through: view.get(publicationSlice).position,
  });

/** Makes the row that replaces `before`, and the new totals. It writes nothing. */
export function drafted(turn: Turn, uid: string, todo: Todo, before: TodoRow | undefined) {
  const { position, todos, bytes } = turn.get(publicationSlice);
  const updatedAt = Math.max(turn.nowMs, (before?.updated_at ?? 0) + 1);
  const todoView: TodoResponse = { uid, ...todo, createdAt: before?.created_at ?? turn.nowMs, updatedAt };
  const object = calendarOf(componentOf(todoView));
  const contents = sealedTodos.seal(turn, uid, todo);
  const size = contents.length + Buffer.byteLength(uid);
  const row: TodoRow = {
    user_uuid: turn.self.id,
    uid,
    position: position + 1,
    contents,
    size,
    etag: etagOf(object),
    object_bytes: Buffer.byteLength(object),
    created_at: todoView.createdAt,
    updated_at: updatedAt,
  };
  const after = {
    todos: todos + (before === undefined ? 1 : 0),
    bytes: bytes + size - (before?.size ?? 0),
  };
  return { todoView, row, after, isNew: before === undefined };
}

export type PublicationDraft = ReturnType<typeof drafted>;

/** The limit of the account that these totals exceed. */
export function overflowOf(after: { readonly todos: number; readonly bytes: number }) {
  if (after.todos > todosMax) return 'todos';
  return after.bytes > todoCapacityBytes ? 'bytes' : undefined;
}

export function putTodo(turn: Turn, { row, after }: PublicationDraft): void {
  const { slot } = turn.get(publicationSlice);
  turn.put(todoTable, row);
  turn.set(publicationSlice, { ...after, slot, position: row.position, changedAtMs: turn.nowMs });
}

export function removeTodo(turn: Turn, row: Pick<TodoRow, 'uid' | 'size'>): void {
  const { position, todos, bytes, slot } = turn.get(publicationSlice);
  turn.remove(todoTable, { user_uuid: turn.self.id, uid: row.uid });
  const isLast = todos === 1;
  if (isLast && slot !== null) releaseSlots(turn, 'publisher', [slot]);
  turn.set(publicationSlice, {
    position: position + 1,
    changedAtMs: turn.nowMs,
    todos: todos - 1,
    bytes: bytes - row.size,
    slot: isLast ? null : slot,
  });
}
