/**
 * Code challenges (docs/protocol/authentication.md, "Code challenges"): what `login-params` was given and `login` must
 * present the verifier of, once.
 *
 * Clients of snjs encode the hex text of the verifier's SHA-256, the standard (RFC 7636) its raw bytes; both are
 * accepted. Only a digest of the challenge is kept, as the key of its entry.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';

/** More than a person has open, few enough to read at every activation. Beyond it the oldest goes. */
export const challengesMax = 64;

export const challengeMap = sliceMap<{ readonly untilMs: number }>({
  family: 'challenge',
  format: 1,
  schema: z.object({ untilMs: z.number() }),
  entriesMax: challengesMax,
});

export function storeChallenge(turn: Turn, challenge: string, ageMs: number): void {
  const entries = [...turn.entries(challengeMap)].toSorted(([, a], [, b]) => a.untilMs - b.untilMs);
  const surplus = entries.length + 1 - challengesMax;
  for (const [index, [key, { untilMs }]] of entries.entries()) {
    if (index < surplus || untilMs <= turn.nowMs) turn.removeEntry(challengeMap, key);
  }
  turn.setEntry(challengeMap, sha256(challenge).toString('hex'), { untilMs: turn.nowMs + ageMs });
}

/** Takes away the challenge this verifier belongs to. False: there is none. */
export function consumeChallenge(turn: Turn, verifier: string): boolean {
  const keys = challengesOf(verifier).map((challenge) => sha256(challenge).toString('hex'));
  const key = keys.find((candidate) => turn.nowMs < (turn.entry(challengeMap, candidate)?.untilMs ?? 0));
  if (key === undefined) return false;
  turn.removeEntry(challengeMap, key);
  return true;
}

/** The challenge of a verifier in both encodings. */
export function challengesOf(verifier: string): readonly [hexText: string, rawBytes: string] {
  const digest = sha256(verifier);
  return [Buffer.from(digest.toString('hex')).toString('base64url'), digest.toString('base64url')];
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
