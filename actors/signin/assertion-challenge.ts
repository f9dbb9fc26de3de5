/**
 * The challenges that security keys sign at sign-in (WebAuthn). Each can be used once, within a few minutes. A new request from the
 * same network for the same e-mail address replaces the former challenge.
 *
 * Anyone may request a challenge for any address, so each network has one of its own. Otherwise an attacker's request would void
 * the challenge of the owner, who is just about to touch the key. The signed challenge may come from another network: devices
 * change networks between two requests, and use IPv6 for one and IPv4 for the next. Challenges are not bound to a device either.
 * The page that asks for one may differ from the page that signs in, and has none of its cookies.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import { attemptOriginOf, makeRoom } from './counting.ts';

const challengeBytes = 32;
const challengeMs = 300_000;

/** The most networks with a challenge. Beyond it the oldest challenge is dropped, those of known networks last. */
const networksMax = 64;

/** Keyed by the key of the network's `AttemptOrigin`. */
export const assertionChallengeMap = sliceMap<{ challenge: string; untilMs: number }>({
  family: 'assertion-challenges',
  entriesMax: networksMax,
  schema: z.object({ challenge: z.string(), untilMs: z.number() }),
});

export function makeAssertionChallenge(turn: Turn, ipAddress: string | null): string {
  const { key } = attemptOriginOf(turn, { ipAddress });
  makeRoom(turn, assertionChallengeMap, key, ({ untilMs }) => untilMs);
  const challenge = turn.random.bytes(challengeBytes).toString('base64url');
  turn.setEntry(assertionChallengeMap, key, { challenge, untilMs: turn.nowMs + challengeMs });
  return challenge;
}

/** Uses up the challenge that the client's assertion names. Undefined if it is unknown or has expired. */
export function takeAssertionChallenge(
  turn: Turn,
  assertion: Readonly<Record<string, unknown>>,
): string | undefined {
  const claimed = claimedChallenge(assertion);
  const [key, offered] =
    [...turn.entries(assertionChallengeMap)].find(
      ([, { challenge, untilMs }]) => challenge === claimed && turn.nowMs < untilMs,
    ) ?? [];
  if (key === undefined || offered === undefined) return undefined;
  turn.removeEntry(assertionChallengeMap, key);
  return offered.challenge;
}

/** The client's text is not trusted. It only finds the challenge against which the signature is then verified. */
function claimedChallenge({ response }: Readonly<Record<string, unknown>>): unknown {
  try {
    const { clientDataJSON } = response as { clientDataJSON: string };
    return JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge;
  } catch {
    return undefined;
  }
}

/** When the last challenge expires, or 0. */
export const endOfAssertions = (view: View): number =>
  Math.max(0, ...[...view.entries(assertionChallengeMap).values()].map(({ untilMs }) => untilMs));
