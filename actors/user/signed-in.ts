/**
 * How every signed-in command of the `user` actor is declared. The request carries the credentials beside the
 * command's own fields, and the session is checked from the actor's own slices at the start of the turn, so that
 * authentication costs no hop and no read (design 1.2).
 *
 * The read plan is made before the turn and so before the check: it may depend on the request and the state, and
 * what it read is dropped when the check refuses.
 */
import { z } from 'zod';
import {
  command,
  type PlanResults,
  type Plans,
  type SharedCommand,
  sharedRead,
  type Turn,
  type TurnCommand,
  type View,
} from '../../runtime/command.ts';
import type { AccountSettings } from '../services.ts';
import { type Caller, callerOf, callerSchema, profileSlice } from './profile.ts';
import { isRefused, type Refusal, type Refused, refusalSchema } from './refusal.ts';
import { checkSession, isReadonly } from './sessions/check.ts';
import { type Credentials, credentialsSchema } from './sessions/credentials.ts';
import type { Session } from './sessions/session.ts';

/** `refused` without `caller`: the session did not pass, and nothing else was looked at. */
export type SignedInReply<Reply> =
  | { readonly caller: Caller; readonly reply: Reply }
  | { readonly caller?: Caller | undefined; readonly refused: Refusal };

export type SignedInRequest<Request> = Request & { readonly credentials: Credentials };

/** What a signed-in turn knows of its caller. */
export interface SignedIn {
  readonly caller: Caller;
  readonly session: Session;
  /** The session, or its whole account, may only read. */
  readonly readonly: boolean;
}

/** An object schema, so that `credentials` can be added without validating twice. */
export type ObjectSchema<T> = z.ZodType<T> & z.ZodObject;

interface SignedInBase<Request, Reply, P extends Plans> {
  /** The command's own fields; `credentials` is added. */
  readonly request: ObjectSchema<Request>;
  readonly reply: z.ZodType<Reply>;
  /** Refuses read-only sessions with 403 `read-only-access` (auth.md 3.11). */
  readonly writes?: boolean;
  readonly reads?: (view: View, request: Request) => P;
}

export interface SignedInCommand<Request, Reply, P extends Plans> extends SignedInBase<Request, Reply, P> {
  readonly repeat?: 'natural' | 'recorded';
  /** Runs only for a living session. A `Refused` it returns is the answer; what it wrote before still commits. */
  readonly turn: (turn: Turn, request: Request, reads: PlanResults<P>, signedIn: SignedIn) => Reply | Refused;
}

export interface SignedInSharedRead<Request, Reply, P extends Plans> extends SignedInBase<Request, Reply, P> {
  readonly answer: (
    view: View & { readonly nowMs: number },
    request: Request,
    reads: PlanResults<P>,
    signedIn: SignedIn,
  ) => Reply | Refused;
}

export function signedInCommand<Request, Reply, P extends Plans = Record<never, never>>(
  settings: AccountSettings,
  { request, reply, writes, turn: run, ...rest }: SignedInCommand<Request, Reply, P>,
): TurnCommand<SignedInRequest<Request>, SignedInReply<Reply>, P> {
  return command({
    ...rest,
    request: signedInRequestSchema(request),
    reply: signedInReplySchema(reply),
    turn: (turn, asked, reads) => {
      const signedIn = authenticate(turn, turn.nowMs, asked.credentials, settings, writes);
      return isRefused(signedIn) ? signedIn : replyOf(signedIn, run(turn, asked, reads, signedIn));
    },
  });
}

export function signedInSharedRead<Request, Reply, P extends Plans = Record<never, never>>(
  settings: AccountSettings,
  { request, reply, writes, answer, ...rest }: SignedInSharedRead<Request, Reply, P>,
): SharedCommand<SignedInRequest<Request>, SignedInReply<Reply>, P> {
  return sharedRead({
    ...rest,
    request: signedInRequestSchema(request),
    reply: signedInReplySchema(reply),
    answer: (view, asked, reads) => {
      const signedIn = authenticate(view, view.nowMs, asked.credentials, settings, writes);
      return isRefused(signedIn) ? signedIn : replyOf(signedIn, answer(view, asked, reads, signedIn));
    },
  });
}

const readOnlyAccess: Refusal = {
  status: 403,
  tag: 'read-only-access',
  message: 'Session has read-only access.',
};

/** The check itself, for flows, whose steps are turns of their own. */
export function authenticate(
  view: View,
  nowMs: number,
  credentials: Credentials,
  settings: AccountSettings,
  writes = false,
): SignedIn | { readonly caller?: Caller; readonly refused: Refusal } {
  const checked = checkSession(view, credentials, nowMs, settings);
  if ('refused' in checked) return checked;
  const profile = view.get(profileSlice);
  const caller = callerOf(view.self.id, profile, settings);
  const readonly = isReadonly(view, checked.session, settings);
  if (writes && readonly) return { caller, refused: readOnlyAccess };
  return { caller, session: checked.session, readonly };
}

function replyOf<Reply>({ caller }: SignedIn, reply: Reply | Refused): SignedInReply<Reply> {
  return isRefused(reply) ? { caller, refused: reply.refused } : { caller, reply };
}

export function signedInRequestSchema<Request>(
  request: ObjectSchema<Request>,
): z.ZodType<SignedInRequest<Request>> {
  const schema = request.extend({ credentials: credentialsSchema });
  return schema as unknown as z.ZodType<SignedInRequest<Request>>;
}

export function signedInReplySchema<Reply>(reply: z.ZodType<Reply>): z.ZodType<SignedInReply<Reply>> {
  const schema = z.union([
    z.object({ caller: callerSchema, reply }),
    z.object({ caller: callerSchema.optional(), refused: refusalSchema }),
  ]);
  return schema as unknown as z.ZodType<SignedInReply<Reply>>;
}
