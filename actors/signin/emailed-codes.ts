/**
 * Codes that are mailed to an address, instead of those of an authenticator app (docs/protocol/account.md, "Codes by e-mail"). They
 * have six digits. A code can be used once, within a quarter of an hour, and a newer one for the same address and network
 * replaces it.
 *
 * Anyone may request a code for any address, so each network has its own. Otherwise an attacker's request would void the code of
 * the owner, who has just opened the mail. Each network, and all unknown networks together, have a limit of requests an hour. For
 * an unknown address they are counted alike, and nothing is mailed. A known device stays known in any network. Other mails that
 * anyone may request count as well (`requested-mails.ts`).
 *
 * A code is right from any network, as devices change networks, and use IPv6 in one request and IPv4 in the next. A few wrong
 * guesses use up the code of their own network and no other; otherwise others could use up the owner's. `counting.ts` bounds
 * guesses by network, too.
 *
 * A code is derived from the state here under a key of this server, and is stored nowhere.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { slice, sliceMap } from '../../runtime/slice.ts';
import { equalInConstantTime } from '../identity/session-tokens.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { type Refused, refuse } from '../reply.ts';
import { attemptOriginOf, makeRoom, type Source } from './counting.ts';

export const codeAgeMs = 15 * 60_000;
const guessesMax = 5;
const nonceBytes = 16;

const windowMs = 3_600_000;
const requestsOfNetworkMax = 5;
const requestsOfUnknownMax = 20;

/** Networks with a code, at most. Beyond this the oldest code is dropped, those of known networks last. */
const networksMax = 64;

const requestsSchema = z.object({
  count: z.number(),
  /** The time from which they do not count any more. */
  untilMs: z.number(),
});
type Requests = z.infer<typeof requestsSchema>;

const codeSchema = z.object({
  /** The code is derived from this; null once it was used, or after too many guesses. */
  nonce: z.string().nullable(),
  untilMs: z.number(),
  guesses: z.number(),
  requests: requestsSchema,
});
type MailedCode = z.infer<typeof codeSchema>;

const noCode: MailedCode = { nonce: null, untilMs: 0, guesses: 0, requests: { count: 0, untilMs: 0 } };

/** Keyed by the key of the network's `AttemptOrigin`. */
export const emailedCodeMap = sliceMap<MailedCode>({
  family: 'emailed-code',
  entriesMax: networksMax,
  schema: codeSchema,
});

/** The requests of all unknown networks together. */
export const codeRequestsSlice = slice<Requests>({
  name: 'code-requests',
  schema: requestsSchema,
  initial: { count: 0, untilMs: 0 },
});

/** Counts one more mail for this origin, or returns the refusal. */
export function countMailRequest(turn: Turn, source: Source): Refused | undefined {
  const { key } = attemptOriginOf(turn, { ipAddress: source.ipAddress });
  const { isUnknown } = attemptOriginOf(turn, source);
  const code = turn.entry(emailedCodeMap, key);
  const ofNetwork = current(turn, code?.requests);
  const ofUnknown = current(turn, turn.get(codeRequestsSlice));
  const full = [
    ...(ofNetwork.count >= requestsOfNetworkMax ? [ofNetwork] : []),
    ...(isUnknown && ofUnknown.count >= requestsOfUnknownMax ? [ofUnknown] : []),
  ];
  if (full.length > 0) return tooMany(Math.max(...full.map(({ untilMs }) => untilMs)) - turn.nowMs);
  store(turn, key, { ...(code ?? noCode), requests: oneMore(ofNetwork) });
  if (isUnknown) turn.set(codeRequestsSlice, oneMore(ofUnknown));
  return undefined;
}

/** Makes another code, for a request that was counted. Returns the value that it is derived from. */
export function makeEmailedCode(turn: Turn, ipAddress: string | null): string {
  const { key } = attemptOriginOf(turn, { ipAddress });
  const { requests } = turn.entry(emailedCodeMap, key) ?? noCode;
  const nonce = turn.random.bytes(nonceBytes).toString('base64url');
  store(turn, key, { nonce, guesses: 0, untilMs: turn.nowMs + codeAgeMs, requests });
  return nonce;
}

/** Whether this is a valid code, which is then used up. A wrong guess is counted. */
export function takeEmailedCode(turn: Turn, ipAddress: string | null, code: string): boolean {
  const keys = turn.use(SigninKeys);
  const isRight = ([, { nonce, untilMs }]: readonly [string, MailedCode]) =>
    nonce !== null &&
    turn.nowMs < untilMs &&
    equalInConstantTime(code, keys.emailedCode(turn.self.id, nonce));
  const [right] = [...turn.entries(emailedCodeMap)].filter(isRight);
  if (right === undefined) {
    countGuess(turn, attemptOriginOf(turn, { ipAddress }).key);
    return false;
  }
  const [key, mailed] = right;
  turn.setEntry(emailedCodeMap, key, { ...mailed, nonce: null });
  return true;
}

function countGuess(turn: Turn, network: string): void {
  const mailed = turn.entry(emailedCodeMap, network);
  if (mailed === undefined || mailed.nonce === null || turn.nowMs >= mailed.untilMs) return;
  const guesses = mailed.guesses + 1;
  const nonce = guesses >= guessesMax ? null : mailed.nonce;
  turn.setEntry(emailedCodeMap, network, { ...mailed, guesses, nonce });
}

export function forgetEmailedCodes(turn: Turn): void {
  for (const key of turn.entries(emailedCodeMap).keys()) turn.removeEntry(emailedCodeMap, key);
  turn.set(codeRequestsSlice, codeRequestsSlice.initial);
}

/** When the last code, and the last count of requests, expires. */
export const endOfEmailedCodes = (view: View): number =>
  Math.max(view.get(codeRequestsSlice).untilMs, ...[...view.entries(emailedCodeMap).values()].map(endOf));

const endOf = ({ untilMs, requests }: MailedCode): number => Math.max(untilMs, requests.untilMs);

/** Requests in a window that begins with the first of them. */
function current({ nowMs }: { readonly nowMs: number }, requests: Requests | undefined): Requests {
  const counts = requests !== undefined && nowMs < requests.untilMs;
  return counts ? requests : { count: 0, untilMs: nowMs + windowMs };
}

const oneMore = ({ count, untilMs }: Requests): Requests => ({ count: count + 1, untilMs });

const tooMany = (retryAfterMs: number): Refused =>
  refuse.tooMany('Too many mails were requested. Please try again later.', retryAfterMs);

function store(turn: Turn, key: string, code: MailedCode): void {
  makeRoom(turn, emailedCodeMap, key, endOf);
  turn.setEntry(emailedCodeMap, key, code);
}
