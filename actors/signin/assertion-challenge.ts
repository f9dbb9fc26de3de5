/**
 * The challenge that a security key signs at sign-in: only the newest of an address counts, once, for a few
 * minutes.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';

const challengeBytes = 32;
const challengeMs = 300_000;

export const assertionChallengeSlice = slice<{ challenge: string; untilMs: number } | null>({
  name: 'assertion-challenge',
  format: 1,
  schema: z.object({ challenge: z.string(), untilMs: z.number() }).nullable(),
  initial: null,
});

export function makeAssertionChallenge(turn: Turn): string {
  const challenge = turn.random.bytes(challengeBytes).toString('base64url');
  turn.set(assertionChallengeSlice, { challenge, untilMs: turn.nowMs + challengeMs });
  return challenge;
}

/** Undefined if there is none that still counts. */
export function takeAssertionChallenge(turn: Turn): string | undefined {
  const offered = turn.get(assertionChallengeSlice);
  if (offered === null) return undefined;
  turn.set(assertionChallengeSlice, null);
  return turn.nowMs < offered.untilMs ? offered.challenge : undefined;
}
