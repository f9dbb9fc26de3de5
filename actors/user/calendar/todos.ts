/** The commands for an account's to-dos (docs/protocol/calendar.md, "To-dos"). */
import { setImmediate } from 'node:timers/promises';
import { keys, type PlanResults, type Turn, type View } from '../../../runtime/command.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { calendarFeed } from '../feature-flags.ts';
import { signedInTurn, signedInWorkflow } from '../signed-in.ts';
import { byUid, UserCalendar } from './contract.ts';
import { isUid, readTodo } from './input.ts';
import {
  drafted,
  overflowOf,
  type PublicationDraft,
  publicationSlice,
  putTodo,
  removeTodo,
  todosMax,
  todosPlan,
} from './publication.ts';
import { busy, keepSlot, releaseUnused, takeSlot } from './slots.ts';
import { openTodo, type TodoResponse, todoTable } from './todo.ts';

const unknown = refuse.notFound('There is no such to-do.', 'caldav-todo-not-found');
const tooMany = refuse.conflict(
  `There are ${todosMax} to-dos already. Delete one first.`,
  'caldav-item-limit',
);
const tooManyPublishers = refuse.conflict('Too many accounts have published to-dos.', 'caldav-item-limit');
const full = refuse.conflict('The to-dos of this account have no room for it.', 'caldav-store-full');

/** To unseal all to-dos of an account takes long. Other calls get their turns in between. */
const listedPerTurn = 200;

/** A to-do that is replaced meanwhile comes again, at the end. */
const listTodos = signedInWorkflow(UserCalendar.commands.listTodos, async (workflow) => {
  const found = new Map<string, TodoResponse>();
  for (let after: number | undefined = 0; after !== undefined; ) {
    after = await workflow.turn(nextTodos(after, found));
    if (after !== undefined) await setImmediate();
  }
  return { todos: [...found.values()].toSorted(byUid) };
});

/** Adds the next page to `found`. Returns the position after which the next page comes, if there is one. */
const nextTodos = (after: number, found: Map<string, TodoResponse>) => ({
  reads: (view: View) => ({ todos: todosPlan(view, { after, limit: listedPerTurn }) }),
  turn: (turn: Turn, { todos }: PlanResults<{ todos: ReturnType<typeof todosPlan> }>) => {
    for (const row of todos.rows) found.set(row.uid, openTodo(turn, row));
    return todos.complete ? undefined : todos.rows.at(-1)?.position;
  },
});

const publishTodo = signedInWorkflow(UserCalendar.commands.publishTodo, async (workflow, request) => {
  const input = readTodo(request);
  const needsSlot = await workflow.turn({
    // A repeat of the call gets here what its last turn recorded.
    recorded: true,
    turn: (turn) => {
      const refused = calendarFeed.refusal(turn) ?? (isRefused(input) ? input : undefined);
      return refused ?? { now: turn.get(publicationSlice).slot === null };
    },
  });
  const slot = needsSlot.now
    ? await takeSlot(workflow, 'publisher', tooManyPublishers, calendarFeed.refusal)
    : undefined;
  return workflow.lastTurn({
    recorded: true,
    reads: ({ self }) => ({
      before: keys(todoTable, keysOf(self.id, isRefused(input) ? undefined : input.uid)),
    }),
    turn: (turn, { before }) => {
      if (isRefused(input)) return input;
      const refused = calendarFeed.refusal(turn);
      if (refused !== undefined) return refused;
      const { todo, uid = turn.random.uuid() } = input;
      const row = input.uid === undefined ? undefined : before.get({ user_uuid: turn.self.id, uid });
      return publish(turn, drafted(turn, uid, todo, row), slot);
    },
  });
});

function publish(turn: Turn, draft: PublicationDraft, slot: string | undefined) {
  const overflow = overflowOf(draft.after);
  if (overflow !== undefined) {
    if (slot !== undefined) releaseUnused(turn, 'publisher', slot);
    return overflow === 'todos' ? tooMany : full;
  }
  const withoutSlot = holdSlot(turn, slot);
  if (withoutSlot !== undefined) return withoutSlot;
  putTodo(turn, draft);
  return { created: draft.isNew, todo: draft.todoView };
}

/** Two calls may have found at the same time that there was no slot. */
function holdSlot(turn: Turn, slot: string | undefined): Refused | undefined {
  const publication = turn.get(publicationSlice);
  if (publication.slot !== null) {
    if (slot !== undefined) releaseUnused(turn, 'publisher', slot);
    return undefined;
  }
  if (slot === undefined) return busy;
  const lost = keepSlot(turn, slot);
  if (lost === undefined) turn.set(publicationSlice, { ...publication, slot });
  return lost;
}

const unpublishTodo = signedInTurn(UserCalendar.commands.unpublishTodo, {
  repeat: 'recorded',
  reads: ({ self }, { uid }) => ({ todo: keys(todoTable, keysOf(self.id, uid)) }),
  turn: (turn, { uid }, { todo }) => {
    const row = isUid(uid) ? todo.get({ user_uuid: turn.self.id, uid }) : undefined;
    if (row === undefined) return unknown;
    removeTodo(turn, row);
    return { deleted: true as const };
  },
});

const keysOf = (user_uuid: string, uid: string | undefined) =>
  uid === undefined || !isUid(uid) ? [] : [{ user_uuid, uid }];

export const todoCommands = { listTodos, publishTodo, unpublishTodo };
