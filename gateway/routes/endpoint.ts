/**
 * An endpoint of the usual kind: a signed-in caller asks something of their own actor. It takes its schemas from the
 * command. Everything from the session check to the envelope follows from this declaration.
 *
 * Routes of other kinds turn the answers of the domain into those of HTTP here, too, in the same way.
 */
import { z } from 'zod';
import { type Answer, type Caller, isRefused, type Refusal } from '../../actors/reply.ts';
import { invalidAuth, type SignedInRequest, type SignedInShape } from '../../actors/signed-in.ts';
import { User } from '../../actors/user/contract.ts';
import { type AskOptions, unlessAbsent } from '../../runtime/handles.ts';
import { type RouteRefusal, statusOf } from '../http/refusal.ts';
import type { HeaderValues } from '../http/reply-headers.ts';
import {
  type AnyRoute,
  type BodyKind,
  type Method,
  type RequestContext,
  type Route,
  type RouteAccess,
  type RouteReply,
  route,
} from '../http/route.ts';

type Adds<Fields> = {
  readonly [Name in keyof Fields & string]?: (
    context: RequestContext<'session'>,
    request: Readonly<Partial<Fields>>,
  ) => Fields[Name];
};

type UserCommand<Fields, Ok> = SignedInShape<Fields, Ok> & { readonly name: string };

/** What all routes of a family have in common. */
type Common = Pick<Route, 'tag' | 'enveloped'>;

/** A route as documents and metrics name it, such as `GET /v1/sessions`. */
export type RouteName = `${Method} ${string}`;

function named(name: RouteName): Pick<Route, 'method' | 'path'> {
  const [method, path = ''] = name.split(' ');
  return { method: method as Method, path };
}

type Given = keyof Common | 'method' | 'path';

interface Endpoint<Fields, Ok>
  extends Common,
    Pick<Route, 'path' | 'summary' | 'headers' | 'bodyLimit' | 'parameterCharactersMax'> {
  readonly method: Method;
  /** A command of the `user` kind, as its contract names it. */
  readonly command: UserCommand<Fields, Ok>;
  /** 200 with what the command answers, unless said otherwise; 204 has no body. */
  readonly status?: 200 | 201 | 202 | 204;
  /** For a GET that reads but may still change something: HEAD does not run it. */
  readonly changesSomething?: boolean;
  /** Instead of `status`, if the answer is not what the command answers: the bodies by status, and the answer. */
  readonly replies?: Route['replies'];
  readonly replyOf?: (ok: Ok) => RouteReply;
  /** Statuses of its refusals, in addition to those of every session. */
  readonly refusals?: readonly number[];
  /** The answer has a field `success`, and so does a 400. */
  readonly hasSuccessField?: boolean;
  /** Fields of the command that the gateway fills in; clients do not send them. */
  readonly adds?: Adds<Fields>;
  /** Headers of its answer, if the answer has any. */
  readonly headersOf?: (ok: Ok) => HeaderValues | undefined;
}

type FillRequest = (context: RequestContext<'session'>, request: object) => unknown;

/** A route of another kind. */
interface OtherRoute<A extends RouteAccess, Request, B extends BodyKind>
  extends Omit<Route<A, Request, B>, Given | 'replies'>,
    Partial<Pick<Route, 'replies'>> {
  /** The statuses of its refusals, which have the usual body. */
  readonly refusals?: readonly number[];
}

/** Makes the routes of a family, which the API description lists under one tag. */
export const family = (common: Common) => ({
  endpoint: <Fields extends object, Ok>(
    name: RouteName,
    declared: Omit<Endpoint<Fields, Ok>, Given>,
  ): AnyRoute => endpoint({ ...named(name), ...declared, ...common }),
  route: <const A extends RouteAccess, Request, const B extends BodyKind = 'json'>(
    name: RouteName,
    { refusals = [], ...declared }: OtherRoute<A, Request, B>,
  ): Route<A, Request, B> => {
    const replies = { ...declared.replies, ...refusedReplies(refusals) };
    return route({ ...named(name), ...declared, ...common, replies });
  },
});

const refusedReplies = (statuses: readonly number[]): Route['replies'] =>
  Object.fromEntries(statuses.map((status) => [status, errorBodySchema]));

/** @throws TypeError that names the endpoint if its declaration makes no sense */
function endpoint<Fields extends object, Ok>(declaration: Endpoint<Fields, Ok>): AnyRoute {
  try {
    return routeOf(declaration);
  } catch (error) {
    const { method, path } = declaration;
    throw new TypeError(`${method} ${path} is declared wrongly: ${String(error)}`, { cause: error });
  }
}

function routeOf<Fields extends object, Ok>({
  command,
  status = 200,
  replies = { [status]: status === 204 ? z.undefined() : command.ok },
  replyOf = (ok) => usualReply(command, status, ok),
  refusals = [],
  adds = {},
  headersOf,
  changesSomething = false,
  hasSuccessField = false,
  ...declared
}: Endpoint<Fields, Ok>): AnyRoute {
  const ask = askFor(command);
  const additions = Object.entries(adds as Record<string, FillRequest>);
  const ofReaders = command.access === 'writes' || command.ofUser === true ? [403] : [];
  return route({
    ...declared,
    access: 'session',
    bearerSuffices: command.bearerSuffices,
    ...(declared.method === 'GET' && command.access === 'reads' && !changesSomething && { safe: true }),
    request: command.fields.omit(keysOf(adds)),
    replies: { ...refusedReplies([401, ...ofReaders, ...refusals]), ...replies },
    handle: (context: RequestContext<'session'>, request) => {
      // Not spread into another object: for a large sync that costs four times as much as parsing and checking it.
      const fields = request as Record<string, unknown>;
      fields['credentials'] = context.credentials;
      for (const [name, fill] of additions) fields[name] = fill(context, fields);
      const reply = signedInAnswer(ask(context, fields as SignedInRequest<Fields>), (ok) => {
        const answer = replyOf(ok);
        const headers = headersOf?.(ok);
        return headers === undefined ? answer : { ...answer, headers };
      });
      return hasSuccessField ? reply.then(withSuccessField) : reply;
    },
  });
}

/** Clients look for `success: false` when their request itself is refused. */
export const withSuccessField = (reply: RouteReply): RouteReply =>
  reply.status === 400 ? { ...reply, body: { success: false, ...(reply.body as object) } } : reply;

const keysOf = (adds: object): Record<string, true> =>
  Object.fromEntries(Object.keys(adds).map((name) => [name, true]));

type AskUser<Fields, Ok> = (
  context: RequestContext<'session'>,
  request: SignedInRequest<Fields>,
) => Promise<Answer<Ok>>;

function askFor<Fields, Ok>(command: UserCommand<Fields, Ok>): AskUser<Fields, Ok> {
  const contract = { name: User.name, commands: { [command.name]: command } };
  type Asks = Record<string, (request: unknown, options: AskOptions) => Promise<Answer<Ok>>>;
  return ({ actors, credentials, ask: options }, request) => {
    const asks = actors.get(contract, credentials.userUuid).ask as unknown as Asks;
    return (asks[command.name] as Asks[string])(request, options);
  };
}

function usualReply<Fields, Ok>(command: SignedInShape<Fields, Ok>, status: number, ok: Ok): RouteReply {
  if (status === 204) return { status };
  return command.json === undefined ? { status, body: ok } : { status, json: command.json(ok) };
}

// --- answers -----------------------------------------------------------------------------------------------

export const errorBodySchema = z.object({
  error: z.object({
    message: z.string(),
    tag: z.string().optional(),
    payload: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Answers with the result of `replyOf`, or the refusal. */
export function answered<Ok>(answer: Answer<Ok>, replyOf: (ok: Ok) => RouteReply): RouteReply {
  if (isRefused(answer)) return refusedAnswer(answer.refused, answer.caller);
  return Object.assign(replyOf(answer.ok), { caller: answer.caller });
}

/** The same for an actor that may not exist (any more), which is refused as `absent`. */
export async function answeredOr<Ok>(
  absent: AnyRefusal,
  answer: Promise<Answer<Ok>>,
  replyOf: (ok: Ok) => RouteReply,
): Promise<RouteReply> {
  const given = await unlessAbsent(answer);
  return given === undefined ? refusedAnswer(absent) : answered(given, replyOf);
}

/** The same for a signed-in caller: a user that does not exist has no sessions. */
export function signedInAnswer<Ok>(
  answer: Promise<Answer<Ok>>,
  replyOf: (ok: Ok) => RouteReply,
): Promise<RouteReply> {
  return answeredOr(invalidAuth, answer, replyOf);
}

/** The domain refuses with a reason, a route itself with a status. */
type AnyRefusal = Refusal | RouteRefusal;

export function refusedAnswer(refusal: AnyRefusal, caller?: Caller): RouteReply {
  const status = 'status' in refusal ? refusal.status : statusOf(refusal);
  const { tag, message, payload, retryAfterMs, withoutEnvelope = false } = refusal;
  const error = {
    ...(tag !== undefined && { tag }),
    message,
    ...(payload !== undefined && { payload }),
  };
  const answer = { status, body: { error }, caller, withoutEnvelope };
  if (retryAfterMs === undefined) return answer;
  return { ...answer, headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) } };
}

/** Clients of routes without the envelope look for other fields beside the message. */
export function flat(reply: RouteReply): RouteReply {
  const { error } = (reply.body ?? {}) as { error?: { payload?: object } };
  if (error?.payload === undefined) return reply;
  const { payload, ...rest } = error;
  return { ...reply, body: { error: { ...rest, ...payload } } };
}
