/** What clients and calendar programs ask of the calendar of an account (docs/protocol/calendar.md). */
import { z } from 'zod';
import type { CommandShape } from '../../../runtime/contract.ts';
import { contract } from '../../../runtime/contract.ts';
import { type Answer, answerSchema } from '../../reply.ts';
import { openToBridges, signedIn } from '../../signed-in.ts';
import { type ShownTodo, shownTodoSchema } from './todo.ts';

export { shownTodoSchema } from './todo.ts';

const nothing = z.object({});
/** Judged in the actor, after the feature flags, which answers with tags of its own. */
const given = z.unknown().optional();

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
export type ShownToken = z.infer<typeof token>;

/** What a program shows: the hash is that of the secret, which goes no further than it has to. */
const shownSecret = z.object({ tokenUuid: z.string(), secretHash: z.string() });
export type ShownSecret = z.infer<typeof shownSecret>;

export type FeedAnswer<Ok> = Answer<Ok> | { readonly unproven: true };

/**
 * A request of a calendar program. `unproven`: the secret was not found right lately, or there is no such token; a `signin` actor
 * is to find out. Refusals: 403 while a feature flag is off.
 */
function ofProgram<Request, Ok>(
  fields: z.ZodType<Request> & z.ZodObject,
  ok: z.ZodType<Ok>,
): CommandShape<Request & { readonly token: ShownSecret }, FeedAnswer<Ok>> {
  return {
    request: fields.extend({ token: shownSecret }) as unknown as z.ZodType<
      Request & { readonly token: ShownSecret }
    >,
    reply: z.union([z.object({ unproven: z.literal(true) }), answerSchema(ok)]) as unknown as z.ZodType<
      FeedAnswer<Ok>
    >,
  };
}

const objectFields = {
  uid: z.string(),
  etag: z.string(),
  /** The bytes of the object as a file of its own. */
  bytes: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
};
const listedObject = z.object(objectFields);
export type ListedObject = z.infer<typeof listedObject>;
const wholeObject = z.object({ ...objectFields, component: z.string() });
export type WholeObject = z.infer<typeof wholeObject>;

/** Another one after every change. */
const ctag = z.string();

/** A uid of 255 characters, each of which takes three bytes that are escaped, and `.ics` behind it. */
export const uidEscapedMax = 255 * 9 + 4;

/** The most objects that are asked for at once. */
export const objectsAtOnceMax = 200;

export const byUid = (a: { readonly uid: string }, b: { readonly uid: string }): number =>
  a.uid < b.uid ? -1 : 1;

const tokenCommands = {
  /** Newest first. */
  listCalendarTokens: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({ tokens: z.array(token) }),
  }),
  /** The token is shown only this once. Refusals: 403 of the feature flags; 400 `invalid-label`; 409 `caldav-token-limit`. */
  makeCalendarToken: signedIn({
    access: 'writes',
    fields: z.object({ label: given }),
    ok: z.object({ token: token.extend({ token: z.string() }) }),
  }),
  /** Refusals: 404 `caldav-token-not-found`. */
  revokeCalendarToken: signedIn({
    access: 'writes',
    fields: z.object({ uuid: z.string().max(64) }),
    ok: z.object({ revoked: z.literal(true) }),
  }),
  revokeCalendarTokens: signedIn({
    access: 'writes',
    fields: nothing,
    ok: z.object({ revoked: z.literal(true), count: z.number() }),
  }),
};

const commands = {
  /** By uid. */
  listTodos: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({ todos: z.array(shownTodoSchema) }),
  }),
  /**
   * Creates one, or replaces the one of this uid. Refusals: 403 `caldav-disabled` and `caldav-not-allowed`; 400
   * `invalid-todo`; 409 `caldav-item-limit` and `caldav-store-full`.
   */
  publishTodo: signedIn({
    access: 'writes',
    fields: z.object({
      uid: given,
      summary: given,
      description: given,
      start: given,
      due: given,
      completed: given,
      completedAt: given,
      priority: given,
    }),
    ok: z.object({ created: z.boolean(), todo: shownTodoSchema as z.ZodType<ShownTodo> }),
  }),
  /** Refusals: 404 `caldav-todo-not-found`. */
  unpublishTodo: signedIn({
    access: 'writes',
    fields: z.object({ uid: z.string() }),
    ok: z.object({ deleted: z.literal(true) }),
  }),

  getCalendarFlags: signedIn({
    access: 'reads',
    fields: nothing,
    ok: calendarGates,
  }),

  readCalendar: ofProgram(nothing, z.object({ ctag })),
  /** A part of them. `next` is what the next part comes after; there is none behind the last. */
  listCalendarObjects: ofProgram(
    z.object({ after: z.int() }),
    z.object({ ctag, objects: z.array(listedObject).readonly(), next: z.int().optional() }),
  ),
  /** Those there are of these, in the order asked. */
  getCalendarObjects: ofProgram(
    z.object({ uids: z.array(z.string()).max(objectsAtOnceMax).readonly() }),
    z.object({ ctag, objects: z.array(wholeObject).readonly() }),
  ),

  /** For a `signin` actor: what it has to hash the secret with. Null if there is no such token. */
  calendarTokenSalt: {
    request: z.object({ tokenUuid: z.string() }),
    reply: z.object({ salt: z.string().nullable() }),
  },
  /** Likewise: whether this is its hash. It is remembered for a while. */
  proveCalendarToken: {
    request: shownSecret.extend({ slowHash: z.string() }),
    reply: z.object({ proven: z.boolean() }),
  },
};

export const UserCalendar = contract({
  name: 'user',
  commands: { ...openToBridges(commands), ...tokenCommands },
  timers: {
    /** A calendar slot was wanted long ago. */
    giveSlotsBack: z.null(),
  },
});
