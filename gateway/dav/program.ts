/**
 * Authenticates a program with a calendar token, by HTTP Basic. Its account remembers a correct secret for a minute.
 * Otherwise a `signin` actor checks it and counts the failures of this token, while this process counts those of an
 * address. Programs begin without credentials, so only wrong ones count.
 */
import { setImmediate } from 'node:timers/promises';
import type { CalendarTokens } from '../../actors/identity/calendar-tokens.ts';
import { secretHashOf } from '../../actors/identity/shown-once.ts';
import type { SigninKeys } from '../../actors/identity/signin-keys.ts';
import { type Answer, isRefused } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import {
  byUid,
  type FeedAnswer,
  type ListedObject,
  objectsAtOnceMax,
  type ProgramSecret,
  UserCalendar,
  type WholeObject,
} from '../../actors/user/calendar/contract.ts';
import { OverloadedError } from '../../runtime/errors.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import type { RateBucket, RateLimiter } from '../admission/rate-limit.ts';
import { refusals, statusOf } from '../http/refusal.ts';
import type { BodyKind, RequestContext, RouteReply } from '../http/route.ts';

export interface ProgramOptions {
  readonly calendar: {
    /** Counts wrong tokens. */
    readonly failures: RateLimiter;
  };
  readonly calendarTokens: Pick<CalendarTokens, 'verify'>;
  readonly signinKeys: Pick<SigninKeys, 'calendarTokenId'>;
}

/**
 * Proofs in flight, by credentials. A program that sends many requests at once has its token hashed only once. So it does not
 * look like an attacker who guesses tokens.
 */
export class Proofs {
  readonly #inFlight = new Map<string, Promise<Answer<object>>>();

  /** The outcome of `prove`, or of the proof in flight. */
  once(key: string, prove: () => Promise<Answer<object>>): Promise<Answer<object>> {
    const before = this.#inFlight.get(key);
    if (before !== undefined) return before;
    const proof = prove().finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, proof);
    return proof;
  }
}

/** Counts only requests with a wrong token. */
export const wrongTokens: RateBucket = { name: 'wrong calendar tokens', perMinute: 20, by: 'address' };

export interface Program {
  readonly userUuid: string;
  readonly ctag: string;
  /** One object for each uid. `ctag` is from before the read. So a program that looks again notices what has changed meanwhile. */
  list(): Promise<{ readonly ctag: string; readonly objects: readonly ListedObject[] }>;
  /** The objects among these that exist. */
  objects(uids: readonly string[]): Promise<readonly WholeObject[]>;
  /** All of these that still exist, a few at a time. */
  parts(
    listed: readonly ListedObject[],
  ): AsyncIterable<{ readonly ctag: string; readonly objects: readonly WholeObject[] }>;
}

type ProgramContext = RequestContext<'public', BodyKind>;

const checkMs = 10_000;

const partBytes = 512 * 1024;
const texts = { contentType: 'text/plain; charset=utf-8' } as const;
const unauthorized: RouteReply = {
  ...texts,
  status: 401,
  body: 'A calendar token is needed as the password.',
  headers: { 'WWW-Authenticate': 'Basic realm="Calendar", charset="UTF-8"' },
};

/** A refusal that ends the read. It never leaves this file. */
class DeniedProgram extends Error {
  readonly reply: RouteReply;
  constructor(reply: RouteReply) {
    super('the program is refused');
    this.reply = reply;
  }
}

/** Answers with the result of `run`, or with the reason for refusing the program. */
export async function asProgram(
  context: ProgramContext,
  options: ProgramOptions & { readonly proofs: Proofs },
  run: (program: Program) => Promise<RouteReply>,
): Promise<RouteReply> {
  try {
    return await run(await programOf(context, options));
  } catch (error) {
    if (error instanceof DeniedProgram) return error.reply;
    throw error;
  }
}

/** @throws DeniedProgram */
async function programOf(
  context: ProgramContext,
  options: ProgramOptions & { readonly proofs: Proofs },
): Promise<Program> {
  const password = passwordIn(context.header('authorization'));
  if (password === 'none') throw new DeniedProgram(unauthorized);
  const { calendar, calendarTokens, signinKeys, proofs } = options;
  const claims = password === undefined ? undefined : calendarTokens.verify(password);
  const failed = (): RouteReply => {
    const waitMs = calendar.failures.take(wrongTokens, context.client.ipAddress ?? '');
    return waitMs > 0 ? later(waitMs) : unauthorized;
  };
  if (claims === undefined) throw new DeniedProgram(failed());
  const { actors, ask } = context;
  const { userUuid, tokenUuid, secret } = claims;
  const user = actors.get(UserCalendar, userUuid).ask;
  const token: ProgramSecret = { tokenUuid, secretHash: secretHashOf(secret) };

  async function prove(): Promise<void> {
    const guard = actors.get(Signin, signinKeys.calendarTokenId(tokenUuid)).ask;
    const answer = await proofs.once(`${tokenUuid} ${token.secretHash}`, () =>
      guard.proveCalendarToken({ userUuid, tokenUuid, secret, device: context.client }, ask),
    );
    if (!isRefused(answer)) return;
    const { retryAfterMs = 0 } = answer.refused;
    const status = statusOf(answer.refused);
    throw new DeniedProgram(status === 429 ? later(retryAfterMs) : failed());
  }

  async function answered<Ok>(ask: () => Promise<FeedAnswer<Ok>>): Promise<Ok> {
    const first = await unlessAbsent(ask());
    const isProven = first !== undefined && !('unproven' in first);
    if (!isProven) await prove();
    const answer = isProven ? first : await unlessAbsent(ask());
    // The account has moved to another host, which does not know about the proof yet.
    if (answer === undefined || 'unproven' in answer)
      throw new OverloadedError('a calendar token is proven anew');
    if (isRefused(answer)) {
      const { message: body } = answer.refused;
      const status = statusOf(answer.refused);
      throw new DeniedProgram({ ...texts, status, body });
    }
    return answer.ok;
  }

  async function list() {
    const first = await answered(() => user.listCalendarObjects({ token, after: 0 }, ask));
    const objects = new Map(first.objects.map((object) => [object.uid, object]));
    for (let { next: after } = first; after !== undefined; ) {
      await setImmediate();
      const part = await answered(() => user.listCalendarObjects({ token, after }, ask));
      for (const object of part.objects) objects.set(object.uid, object);
      after = part.next;
    }
    return { ctag: first.ctag, objects: [...objects.values()].toSorted(byUid) };
  }

  async function* parts(listed: readonly ListedObject[]) {
    for (let at = 0; at < listed.length; ) {
      const uids: string[] = [];
      for (
        let bytes = 0;
        at < listed.length && uids.length < objectsAtOnceMax && bytes < partBytes;
        at += 1
      ) {
        const object = listed[at];
        if (object === undefined) break;
        uids.push(object.uid);
        bytes += object.bytes;
      }
      yield await answered(() => user.getCalendarObjects({ token, uids }, ask));
      // If a part sends nothing, for example because of a filter, nothing else lets the event loop turn.
      await setImmediate();
    }
  }

  const { ctag } = await answered(() => user.readCalendar({ token }, ask));
  context.onlyWhile(async () => {
    try {
      await answered(() => user.readCalendar({ token }, { deadlineMs: checkMs }));
      return undefined;
    } catch (error) {
      if (error instanceof DeniedProgram) return refusals.invalidAuth;
      throw error;
    }
  });
  return {
    userUuid,
    ctag,
    parts,
    list,
    objects: async (uids) =>
      uids.length === 0 ? [] : (await answered(() => user.getCalendarObjects({ token, uids }, ask))).objects,
  };
}

const later = (waitMs: number): RouteReply => ({
  ...texts,
  status: 429,
  body: 'Too many wrong calendar tokens. Please try again later.',
  headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
});

const authorizationCharactersMax = 1_024;

/** `none`: there were no credentials. Undefined: the credentials are not a name and a password. */
function passwordIn(authorization: string | undefined): string | undefined | 'none' {
  if (authorization === undefined) return 'none';
  const [, encoded] =
    /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization.slice(0, authorizationCharactersMax)) ?? [];
  const text = Buffer.from(encoded ?? '', 'base64').toString();
  const colon = text.indexOf(':');
  return colon > 0 ? text.slice(colon + 1) : undefined;
}
