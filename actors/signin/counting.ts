/**
 * Counts the attempts at one address by their origin. An attempt counts as failed before the password is checked, and is
 * returned if the password is right. So simultaneous attempts cannot outrun a limit.
 *
 * An unregistered address has no known networks and is guarded like any other.
 */
import type { Turn } from '../../runtime/command.ts';
import type { SliceMap } from '../../runtime/slice.ts';
import { networkOf } from '../identity/network.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { refuse } from '../reply.ts';
import { AccountSettings } from '../settings.ts';
import {
  type AttemptCounters,
  attemptsMap,
  type Counter,
  countersAfterFailure,
  currentAttempts,
  endOf,
  isLocked,
  needsCaptcha,
  networksMax,
  zeroCounters,
} from './attempts.ts';
import { isKnown, knownDeviceMap, knownNetworkMap, remember } from './known.ts';
import {
  currentUnknownFailures,
  nextAttemptMs,
  noUnknownFailures,
  unknownFailuresSlice,
} from './unknown-origins.ts';

/** For a caller who is not signing in and has made too many attempts. */
export const tooMany = refuse.tooMany('Too many attempts. Please try again later.', 3_600_000);

/** The origin of an attempt. */
export interface AttemptOrigin {
  readonly key: string;
  readonly isUnknown: boolean;
}

/** The account's own signed-in callers. No network has this key. */
export const signedInOrigin: AttemptOrigin = { key: 'signed-in', isUnknown: false };

/** The traces by which an attempt's origin is known. */
export interface Source {
  /** Null if the address is not available any more; that counts as unknown. */
  readonly ipAddress: string | null;
  /** The sessions whose cookies came with it. Only the account's own devices know their uuids. */
  readonly cookieSessions?: readonly string[] | undefined;
}

/** The device if it is known, else the network. */
export function attemptOriginOf(turn: Turn, { ipAddress, cookieSessions = [] }: Source): AttemptOrigin {
  const devices = cookieSessions.map((uuid) => deviceKey(turn, uuid));
  const known = devices.find((key) => isKnown(turn, key));
  if (known !== undefined) return { key: known, isUnknown: false };
  const key = networkKey(turn, ipAddress ?? '');
  return { key, isUnknown: ipAddress === null || !isKnown(turn, key) };
}

/** Origins whose failures and challenges never give way to others. */
export const isOwn = (turn: Turn, key: string): boolean => key === signedInOrigin.key || isKnown(turn, key);

/**
 * Makes room for an entry of this key, if the map is full: the entry that ends first goes. That of a known network goes only
 * when there are no others.
 */
export function makeRoom<T>(turn: Turn, map: SliceMap<T>, key: string, endOf: (entry: T) => number): void {
  if (turn.entry(map, key) !== undefined) return;
  const byAge = [...turn.entries(map)].toSorted(([, a], [, b]) => endOf(a) - endOf(b));
  if (byAge.length < map.entriesMax) return;
  const [oldest] = byAge.find(([each]) => !isOwn(turn, each)) ?? byAge[0] ?? [];
  if (oldest !== undefined) turn.removeEntry(map, oldest);
}

const networkKey = (turn: Turn, ipAddress: string): string =>
  turn.use(SigninKeys).sourceKey(turn.self.id, networkOf(ipAddress));

const deviceKey = (turn: Turn, sessionUuid: string): string =>
  turn.use(SigninKeys).sourceKey(turn.self.id, `session ${sessionUuid}`);

/** Why no attempt may be made now; undefined if one may. `captchaPassed`: the captcha has passed, or may still pass. */
export function refusedAttempt(
  turn: Turn,
  origin: AttemptOrigin,
  captchaPassed: boolean,
): 'locked' | 'captcha-missing' | undefined {
  const limits = turn.use(AccountSettings);
  const attempts = attemptsOf(turn, origin);
  if (isLocked(attempts, limits)) return 'locked';
  if (origin.isUnknown && turn.nowMs < nextAttemptMs(currentUnknownFailures(turn), limits)) return 'locked';
  if (asksForCaptcha(turn, origin) && !captchaPassed) return 'captcha-missing';
  return undefined;
}

/** Whether an attempt from this origin needs a captcha, if one is configured. */
export function asksForCaptcha(turn: Turn, origin: AttemptOrigin): boolean {
  const limits = turn.use(AccountSettings);
  if (needsCaptcha(attemptsOf(turn, origin), limits)) return true;
  return origin.isUnknown && currentUnknownFailures(turn).count >= limits.plainAttemptsMax;
}

/** Counts one attempt as failed. */
export function debitAttempt(turn: Turn, origin: AttemptOrigin): void {
  const limits = turn.use(AccountSettings);
  const attempts = attemptsOf(turn, origin);
  if (turn.entry(attemptsMap, origin.key) === undefined) evictIfFull(turn);
  turn.setEntry(attemptsMap, origin.key, countersAfterFailure(attempts, turn.nowMs, limits));
  if (!origin.isUnknown) return;
  turn.set(unknownFailuresSlice, { count: currentUnknownFailures(turn).count + 1, lastMs: turn.nowMs });
}

/** The guess was right, and more steps follow: one failure fewer. */
export function returnAttempt(turn: Turn, origin: AttemptOrigin): void {
  const { plain, captcha } = attemptsOf(turn, origin);
  const fewer = (counter: Counter): Counter => ({ ...counter, count: Math.max(0, counter.count - 1) });
  const left = captcha.count > 0 ? { plain, captcha: fewer(captcha) } : { plain: fewer(plain), captcha };
  if (left.plain.count + left.captcha.count > 0) turn.setEntry(attemptsMap, origin.key, left);
  else turn.removeEntry(attemptsMap, origin.key);
  const failures = currentUnknownFailures(turn);
  if (origin.isUnknown && failures.count > 0) {
    turn.set(unknownFailuresSlice, { ...failures, count: failures.count - 1 });
  }
}

/** The password was right: clears the failures of the attempt's origin, which is known from now on. Once for a session. */
export function acceptAttempt(turn: Turn, { key, isUnknown }: AttemptOrigin, opened: OpenedSession): void {
  if (isKnown(turn, deviceKey(turn, opened.sessionUuid))) return;
  turn.removeEntry(attemptsMap, key);
  const failures = currentUnknownFailures(turn);
  // Failures from unknown origins stay. Otherwise each sign-in of the owner would clear them.
  if (isUnknown && failures.count > 0) {
    turn.set(unknownFailuresSlice, { ...failures, count: failures.count - 1 });
  }
  recognise(turn, opened);
}

/** A session that was opened with the password, and its origin. */
export interface OpenedSession {
  readonly ipAddress: string | null;
  readonly sessionUuid: string;
}

export function recognise(turn: Turn, { ipAddress, sessionUuid }: OpenedSession): void {
  if (ipAddress !== null) remember(turn, knownNetworkMap, networkKey(turn, ipAddress));
  remember(turn, knownDeviceMap, deviceKey(turn, sessionUuid));
}

/** Clears the attempts of all origins. */
export function forgetAttempts(turn: Turn): void {
  for (const key of turn.entries(attemptsMap).keys()) turn.removeEntry(attemptsMap, key);
  turn.set(unknownFailuresSlice, noUnknownFailures);
}

function attemptsOf(turn: Turn, { key }: AttemptOrigin): AttemptCounters {
  return currentAttempts(turn.entry(attemptsMap, key) ?? zeroCounters, turn.nowMs);
}

/** Drops the failures that expire first. */
function evictIfFull(turn: Turn): void {
  const entries = [...turn.entries(attemptsMap)];
  if (entries.length < networksMax) return;
  const [first] = entries
    .filter(([key]) => !isOwn(turn, key))
    .toSorted(([, a], [, b]) => endOf(a) - endOf(b));
  if (first !== undefined) turn.removeEntry(attemptsMap, first[0]);
}
