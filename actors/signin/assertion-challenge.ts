/**
 * The challenges that security keys sign at sign-in. For an address and a network only the newest counts, once, for a few minutes.
 *
 * Anyone may request one for any address, so each network has its own. Otherwise a request by somebody else would void the
 * challenge of the owner, who is just about to touch the key. The answer may come from another network: devices change networks
 * between two requests, and use IPv6 in one and IPv4 in the next. Challenges do not belong to a device. The page that asks for
 * one may differ from the page that signs in, and has none of its cookies.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import { attemptOriginOf, makeRoom } from './counting.ts';

const challengeBytes = 32;
const challengeMs = 300_000;

/** The most networks with a challenge. Beyond it the oldest goes, and one of a known network only when there are no others. */
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

/** The challenge that this assertion, as the client sent it, has signed. Undefined if that is not valid any more. */
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

/** This text is not trusted: it only finds the challenge that the signature is then checked against. */
function claimedChallenge({ response }: Readonly<Record<string, unknown>>): unknown {
  try {
    const { clientDataJSON } = response as { clientDataJSON: string };
    return JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge;
  } catch {
    return undefined;
  }
}

/** When the last of them expires. */
export const endOfAssertions = (view: View): number =>
  Math.max(0, ...[...view.entries(assertionChallengeMap).values()].map(({ untilMs }) => untilMs));
