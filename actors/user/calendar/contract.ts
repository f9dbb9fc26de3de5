/** What clients and calendar programs ask of an account's calendar (docs/protocol/calendar.md). */
import { z } from 'zod';
import type { CommandShape } from '../../../runtime/contract.ts';
import { contract } from '../../../runtime/contract.ts';
import { type Answer, answerSchema } from '../../reply.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';
import { type TodoResponse, todoResponseSchema } from './todo.ts';

export { todoResponseSchema } from './todo.ts';

const nothing = z.object({});
/** The actor checks it after the feature flag, and each refusal has a tag of its own. */
const unchecked = z.unknown().optional();

export const calendarGates = z.object({
  caldavEnabled: z.boolean(),
  allowed: z.boolean(),
  available: z.boolean(),
});

const token = z.object({
  uuid: z.string(),
  userUuid: z.string(),
  label: z.string(),
  scope: z.literal('calendar-read'),
  createdAt: z.number(),
  lastUsedAt: z.number().nullable(),
});
export type TokenResponse = z.infer<typeof token>;

/** The token of a program. The gateway hashes its secret, which goes no further than it has to. */
const programSecret = z.object({ tokenUuid: z.string(), secretHash: z.string() });
export type ProgramSecret = z.infer<typeof programSecret>;

export type FeedAnswer<Ok> = Answer<Ok> | { readonly unproven: true };

/**
 * A request of a calendar program. `unproven`: there is no such token, or its secret was not found right lately; a `signin`
 * actor has to check it. Refusals: 403 while the feature is off.
 */
function ofProgram<Request, Ok>(
  fields: z.ZodType<Request> & z.ZodObject,
  ok: z.ZodType<Ok>,
): CommandShape<Request & { readonly token: ProgramSecret }, FeedAnswer<Ok>> {
  return {
    request: fields.extend({ token: programSecret }) as unknown as z.ZodType<
      Request & { readonly token: ProgramSecret }
    >,
    reply: z.union([z.object({ unproven: z.literal(true) }), answerSchema(ok)]) as unknown as z.ZodType<
      FeedAnswer<Ok>
    >,
  };
}

const objectFields = {
  uid: z.string(),
  etag: z.string(),
  /** The size of the object as a file of its own. */
  bytes: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
};
const listedObject = z.object(objectFields);
export type ListedObject = z.infer<typeof listedObject>;
const wholeObject = z.object({ ...objectFields, component: z.string() });
export type WholeObject = z.infer<typeof wholeObject>;

/** Changes with every change of the calendar. */
const ctag = z.string();

/** A uid of 255 characters, each of three escaped bytes, and `.ics` after it. */
export const uidEscapedMax = 255 * 9 + 4;

/** The most objects that one request names. */
export const objectsAtOnceMax = 200;

export const byUid = (a: { readonly uid: string }, b: { readonly uid: string }): number =>
  a.uid < b.uid ? -1 : 1;

const tokenCommands = {
  /** The newest first. */
  listCalendarTokens: reads({ ok: z.object({ tokens: z.array(token) }) }),
  /** Shows the token this once. Refusals: 403 while the feature is off; 400 `invalid-label`; 409 `caldav-token-limit`. */
  makeCalendarToken: writes({
    fields: z.object({ label: unchecked }),
    ok: z.object({ token: token.extend({ token: z.string() }) }),
  }),
  /** Refusals: 404 `caldav-token-not-found`. */
  revokeCalendarToken: writes({
    fields: z.object({ uuid: z.string().max(64) }),
    ok: z.object({ revoked: z.literal(true) }),
  }),
  revokeCalendarTokens: writes({ ok: z.object({ revoked: z.literal(true), count: z.number() }) }),
};

const commands = {
  /** In the order of their uids. */
  listTodos: reads({ ok: z.object({ todos: z.array(todoResponseSchema) }) }),
  /**
   * Creates a to-do, or replaces the one with this uid. Refusals: 403 `caldav-disabled` and `caldav-not-allowed`; 400
   * `invalid-todo`; 409 `caldav-item-limit` and `caldav-store-full`.
   */
  publishTodo: writes({
    fields: z.object({
      uid: unchecked,
      summary: unchecked,
      description: unchecked,
      start: unchecked,
      due: unchecked,
      completed: unchecked,
      completedAt: unchecked,
      priority: unchecked,
    }),
    ok: z.object({ created: z.boolean(), todo: todoResponseSchema as z.ZodType<TodoResponse> }),
  }),
  /** Refusals: 404 `caldav-todo-not-found`. */
  unpublishTodo: writes({
    fields: z.object({ uid: z.string() }),
    ok: z.object({ deleted: z.literal(true) }),
  }),

  getCalendarFlags: reads({ ok: calendarGates }),

  readCalendar: ofProgram(nothing, z.object({ ctag })),
  /** One page. The next one comes after `next`; there is none after the last. */
  listCalendarObjects: ofProgram(
    z.object({ after: z.int() }),
    z.object({ ctag, objects: z.array(listedObject).readonly(), next: z.int().optional() }),
  ),
  /** Those that exist, in the order asked. */
  getCalendarObjects: ofProgram(
    z.object({ uids: z.array(z.string()).max(objectsAtOnceMax).readonly() }),
    z.object({ ctag, objects: z.array(wholeObject).readonly() }),
  ),

  /** Asked by a `signin` actor, which hashes the secret with it. Null: there is no such token. */
  calendarTokenSalt: {
    request: z.object({ tokenUuid: z.string() }),
    reply: z.object({ salt: z.string().nullable() }),
  },
  /** Asked by a `signin` actor: whether this is the hash of the token. The actor remembers it for a while. */
  proveCalendarToken: {
    request: programSecret.extend({ slowHash: z.string() }),
    reply: z.object({ proven: z.boolean() }),
  },
};

export const UserCalendar = contract({
  name: 'user',
  commands: { ...openToBridges(commands), ...tokenCommands },
  timers: {
    /** A slot was wanted long ago, and was never kept. */
    giveSlotsBack: z.null(),
  },
});
