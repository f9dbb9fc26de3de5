/**
 * A timer removes the expired state of a `signin` actor. An actor without state becomes a tombstone. Traces of attempts are gone
 * within days. Known networks and devices stay for months, and after that nothing is left.
 */
import { type Turn, timer } from '../../runtime/command.ts';
import { AccountSettings } from '../settings.ts';
import { approvalMap, endOfApprovals } from './approvals.ts';
import { assertionChallengeMap, endOfAssertions } from './assertion-challenge.ts';
import { attemptsMap, endOf } from './attempts.ts';
import { challengeMap } from './challenges.ts';
import { Signin } from './contract.ts';
import { endOfEmailedCodes, forgetEmailedCodes } from './emailed-codes.ts';
import { endOfKnowing, forgetKnown } from './known.ts';
import { endOfUnknownFailures, noUnknownFailures, unknownFailuresSlice } from './unknown-origins.ts';

const { expire } = Signin.timers;

/**
 * Arms, or moves, the timer. Call it in every turn that adds state, so that it is never early.
 */
export function expireLater(turn: Turn): void {
  const endMs = Math.max(
    endOfAttempts(turn),
    endOfApprovals(turn),
    endOfAssertions(turn),
    endOfEmailedCodes(turn),
    ...endsOfChallenges(turn),
  );
  if (endMs > turn.nowMs) turn.arm(expire, endMs, null);
  else turn.arm(expire, Math.max(turn.nowMs, endOfKnowing(turn)), null);
}

export const expireTimer = timer(expire, (turn) => {
  forgetPending(turn);
  forgetKnown(turn, 'ended');
  const endMs = endOfKnowing(turn);
  if (endMs > 0) turn.arm(expire, endMs, null);
  else turn.tombstone();
});

/** Everything but known networks and devices: attempts, challenges, approvals, codes. */
export function forgetPending(turn: Turn): void {
  for (const map of [attemptsMap, challengeMap, approvalMap, assertionChallengeMap]) {
    for (const key of turn.entries<unknown>(map).keys()) turn.removeEntry<unknown>(map, key);
  }
  forgetEmailedCodes(turn);
  turn.set(unknownFailuresSlice, noUnknownFailures);
}

function endOfAttempts(turn: Turn): number {
  const networks = [...turn.entries(attemptsMap).values()].map(endOf);
  return Math.max(
    endOfUnknownFailures(turn.get(unknownFailuresSlice), turn.use(AccountSettings)),
    ...networks,
  );
}

const endsOfChallenges = (turn: Turn): readonly number[] =>
  [...turn.entries(challengeMap).values()].map(({ untilMs }) => untilMs);
