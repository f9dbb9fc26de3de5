/**
 * A timer removes whatever no longer counts in a `signin` actor, and an actor that holds nothing becomes a
 * tombstone. Traces of attempts are gone within days; known networks and devices stay for months, and after
 * them nothing is left.
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
import { endOfStrangers, noStrangers, strangersSlice } from './strangers.ts';

const { expire } = Signin.timers;

/**
 * Arms, or moves, the timer. Call in every turn that adds to what the actor holds, so that it is never early.
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

export const expireTimer = timer({
  ...expire,
  missed: 'fire-once',
  turn: (turn) => {
    for (const key of turn.entries(attemptsMap).keys()) turn.removeEntry(attemptsMap, key);
    for (const key of turn.entries(challengeMap).keys()) turn.removeEntry(challengeMap, key);
    for (const uuid of turn.entries(approvalMap).keys()) turn.removeEntry(approvalMap, uuid);
    for (const key of turn.entries(assertionChallengeMap).keys())
      turn.removeEntry(assertionChallengeMap, key);
    forgetEmailedCodes(turn);
    turn.set(strangersSlice, noStrangers);
    forgetKnown(turn, 'ended');
    const endMs = endOfKnowing(turn);
    if (endMs > 0) turn.arm(expire, endMs, null);
    else turn.tombstone();
  },
});

function endOfAttempts(turn: Turn): number {
  const networks = [...turn.entries(attemptsMap).values()].map(endOf);
  return Math.max(endOfStrangers(turn.get(strangersSlice), turn.use(AccountSettings)), ...networks);
}

const endsOfChallenges = (turn: Turn): readonly number[] =>
  [...turn.entries(challengeMap).values()].map(({ untilMs }) => untilMs);
