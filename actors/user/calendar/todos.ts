/** What clients do with the to-dos of their account (docs/protocol/calendar.md, "To-dos"). */
import { setImmediate } from 'node:timers/promises';
import { keys, type PlanResults, type Turn, type View } from '../../../runtime/command.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { signedInTurn, signedInWorkflow } from '../signed-in.ts';
import { byUid, UserCalendar } from './contract.ts';
import { flagRefusal } from './feature-flags.ts';
import { type GivenTodo, givenTodo, isUid } from './given.ts';
import { drafted, overflowOf, publicationSlice, put, remove, todosMax, todosPlan } from './publication.ts';
import { busy, keepSlot, releaseUnused, takeSlot } from './slots.ts';
import { openTodo, type ShownTodo } from './todo.ts';
import { type TodoRow, todoTable } from './todo-table.ts';

const unknown = refuse.notFound('There is no such to-do.', 'caldav-todo-not-found');
const tooMany = refuse.conflict(
  `There are ${todosMax} to-dos already. Delete one first.`,
  'caldav-item-limit',
);
const tooManyPublishers = refuse.conflict('Too many accounts have published to-dos.', 'caldav-item-limit');
const full = refuse.conflict('The to-dos of this account have no room for it.', 'caldav-store-full');

/** To open as many as an account may have takes long: others get their turns in between. */
const listedPerTurn = 200;

/** What is replaced meanwhile comes again, at the end. */
const listTodos = signedInWorkflow({
  ...UserCalendar.commands.listTodos,
  run: async (workflow) => {
    const found = new Map<string, ShownTodo>();
    for (let after: number | undefined = 0; after !== undefined; ) {
      after = await workflow.turn(nextTodos(after, found));
      if (after !== undefined) await setImmediate();
    }
    return { todos: [...found.values()].toSorted(byUid) };
  },
});

/** Puts the next ones into `found`. The position after which others come, if there are any. */
const nextTodos = (after: number, found: Map<string, ShownTodo>) => ({
  reads: (view: View) => ({ todos: todosPlan(view, { after, limit: listedPerTurn }) }),
  turn: (turn: Turn, { todos }: PlanResults<{ todos: ReturnType<typeof todosPlan> }>) => {
    for (const row of todos.rows) found.set(row.uid, openTodo(turn, row));
    return todos.complete ? undefined : todos.rows.at(-1)?.position;
  },
});

const publishTodo = signedInWorkflow({
  ...UserCalendar.commands.publishTodo,
  run: async (workflow, asked) => {
    const given = givenTodo(asked);
    const needsSlot = await workflow.turn({
      // A repeat of the call is answered here with what its last turn recorded.
      recorded: true,
      turn: (turn) => {
        const refused = flagRefusal(turn) ?? (isRefused(given) ? given : undefined);
        return refused ?? { now: turn.get(publicationSlice).slot === null };
      },
    });
    const slot = needsSlot.now
      ? await takeSlot(workflow, 'publisher', tooManyPublishers, flagRefusal)
      : undefined;
    return workflow.lastTurn({
      recorded: true,
      reads: ({ self }) => ({
        before: keys(todoTable, keysOf(self.id, isRefused(given) ? undefined : given.uid)),
      }),
      turn: (turn, { before }) => {
        if (isRefused(given)) return given;
        const refused = flagRefusal(turn);
        if (refused !== undefined) return refused;
        if (given.uid === undefined) return publish(turn, turn.random.uuid(), given, undefined, slot);
        const row = before.get({ user_uuid: turn.self.id, uid: given.uid });
        return publish(turn, given.uid, given, row, slot);
      },
    });
  },
});

function publish(
  turn: Turn,
  uid: string,
  { todo }: GivenTodo,
  before: TodoRow | undefined,
  wanted: string | undefined,
) {
  const draft = drafted(turn, uid, todo, before);
  const overflow = overflowOf(draft.after);
  if (overflow !== undefined) {
    if (wanted !== undefined) releaseUnused(turn, 'publisher', wanted);
    return overflow === 'todos' ? tooMany : full;
  }
  const withoutSlot = holdSlot(turn, wanted);
  if (withoutSlot !== undefined) return withoutSlot;
  put(turn, draft);
  return { created: before === undefined, todo: draft.shown };
}

/** Two calls may have found that there was none. */
function holdSlot(turn: Turn, wanted: string | undefined): Refused | undefined {
  const publication = turn.get(publicationSlice);
  if (publication.slot !== null) {
    if (wanted !== undefined) releaseUnused(turn, 'publisher', wanted);
    return undefined;
  }
  if (wanted === undefined) return busy;
  const lost = keepSlot(turn, wanted);
  if (lost === undefined) turn.set(publicationSlice, { ...publication, slot: wanted });
  return lost;
}

const unpublishTodo = signedInTurn({
  ...UserCalendar.commands.unpublishTodo,
  repeat: 'recorded',
  reads: ({ self }, { uid }) => ({ todo: keys(todoTable, keysOf(self.id, uid)) }),
  turn: (turn, { uid }, { todo }) => {
    const row = isUid(uid) ? todo.get({ user_uuid: turn.self.id, uid }) : undefined;
    if (row === undefined) return unknown;
    remove(turn, row);
    return { deleted: true as const };
  },
});

const keysOf = (user_uuid: string, uid: string | undefined) =>
  uid === undefined || !isUid(uid) ? [] : [{ user_uuid, uid }];

export const todoCommands = { listTodos, publishTodo, unpublishTodo };
