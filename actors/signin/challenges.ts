/**
 * Code challenges (docs/protocol/authentication.md, "Code challenges"). `login-params` brings one, and `login` must present its
 * verifier, once.
 *
 * Clients of snjs encode the hex text of the verifier's SHA-256, and the standard (RFC 7636) its raw bytes; both are accepted. Only a
 * digest of the challenge is kept, as the key of its entry.
 *
 * A challenge is valid only for the kind of sign-in it was made for. The `login-params` of a recovery ask for recovery codes instead
 * of the second factor, and only the login of a recovery uses those up.
 *
 * Challenges have to be stored, as clients send nothing with the verifier that could prove one. Anyone may store one for any address.
 * So each network has its own: a network that stores many pushes out its own. Those of known networks and devices stay as long as
 * there is one of an unknown network to drop.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice, sliceMap } from '../../runtime/slice.ts';
import { AccountSettings } from '../settings.ts';
import { type AttemptOrigin, isOwn } from './counting.ts';

/** Challenges of one network, at most: more than it has open at a time. Beyond that its oldest is dropped. */
const challengesPerNetworkMax = 64;

/** All challenges, at most: few enough to read at every activation. Beyond that the unknown network with most of them loses its oldest. */
const challengesMax = 256;

/** The kind of sign-in. */
export type Purpose = 'factor' | 'recovery';

/** A challenge for a sign-in with recovery codes counts for no other sign-in, and the other way round. */
export const purposeOf = ({ recoveryCodes }: { readonly recoveryCodes?: string | undefined }): Purpose =>
  recoveryCodes === undefined ? 'factor' : 'recovery';

export const challengeMap = sliceMap({
  family: 'challenge',
  schema: z.object({
    untilMs: z.number(),
    /** The key of the `AttemptOrigin` that stored it; absent from a release that did not ask. */
    network: z.string().optional(),
    /** Absent from a release that did not ask: `factor`. */
    way: z.enum(['factor', 'recovery']).optional(),
  }),
  entriesMax: challengesMax,
});

/** False if this challenge is there already. It then lives as long as a new one. */
export function addChallenge(
  turn: Turn,
  challenge: string,
  { key: network }: AttemptOrigin,
  purpose: Purpose,
): boolean {
  const key = keyOf(challenge);
  const isNew = turn.nowMs >= (turn.entry(challengeMap, key)?.untilMs ?? 0);
  if (isNew) evictIfFull(turn, network);
  const untilMs = turn.nowMs + turn.use(AccountSettings).challengeAgeMs;
  turn.setEntry(challengeMap, key, { untilMs, network, way: purpose });
  return isNew;
}

function evictIfFull(turn: Turn, network: string): void {
  for (const [key, { untilMs }] of turn.entries(challengeMap)) {
    if (untilMs <= turn.nowMs) turn.removeEntry(challengeMap, key);
  }
  const byNetwork = keysByNetwork(turn);
  const own = byNetwork.get(network) ?? [];
  if (own.length >= challengesPerNetworkMax) removeFirst(turn, own);
  else if (turn.entries(challengeMap).size >= challengesMax) removeFirst(turn, fullest(turn, byNetwork));
}

/** The keys of each network's challenges, the oldest first. */
function keysByNetwork(turn: Turn): ReadonlyMap<string, readonly string[]> {
  const byAge = [...turn.entries(challengeMap)].toSorted(([, a], [, b]) => a.untilMs - b.untilMs);
  const byNetwork = new Map<string, string[]>();
  for (const [key, { network = '' }] of byAge) {
    const keys = byNetwork.get(network);
    if (keys === undefined) byNetwork.set(network, [key]);
    else keys.push(key);
  }
  return byNetwork;
}

/** The keys of the network with most challenges: an unknown one if there is any; among equals, the one with the oldest. */
function fullest(turn: Turn, byNetwork: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const isUnknown = (network: string) => !isOwn(turn, network);
  const unknown = [...byNetwork].filter(([network]) => isUnknown(network));
  const [first = []] = (unknown.length > 0 ? unknown : [...byNetwork])
    .map(([, keys]) => keys)
    .toSorted((a, b) => b.length - a.length);
  return first;
}

function removeFirst(turn: Turn, [key]: readonly string[]): void {
  if (key !== undefined) turn.removeEntry(challengeMap, key);
}

/** Removes the challenge of this verifier. False if there is none, or none for this kind of sign-in. */
export function consumeChallenge(turn: Turn, verifier: string, purpose: Purpose): boolean {
  const isAlive = (key: string) => turn.nowMs < (turn.entry(challengeMap, key)?.untilMs ?? 0);
  const key = challengesOf(verifier).map(keyOf).find(isAlive);
  if (key === undefined) return false;
  const madeFor = turn.entry(challengeMap, key)?.way ?? 'factor';
  turn.removeEntry(challengeMap, key);
  return madeFor === purpose;
}

/** How often all were forgotten. The challenge of a sign-in that began before the last time is not stored. */
export const forgottenSlice = slice<number>({
  name: 'challenges-forgotten',
  schema: z.number(),
  initial: 0,
});

export function forgetChallenges(turn: Turn): void {
  for (const key of turn.entries(challengeMap).keys()) turn.removeEntry(challengeMap, key);
  turn.set(forgottenSlice, turn.get(forgottenSlice) + 1);
}

/** The challenge of a verifier in both encodings. */
export function challengesOf(verifier: string): readonly [hexText: string, rawBytes: string] {
  const digest = sha256(verifier);
  return [Buffer.from(digest.toString('hex')).toString('base64url'), digest.toString('base64url')];
}

const keyOf = (challenge: string): string => sha256(challenge).toString('hex');

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
