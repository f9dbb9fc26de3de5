import { type Turn, timer } from '../../runtime/command.ts';
import { attemptsSlice } from './attempts.ts';
import { challengeMap } from './challenges.ts';
import { Signin } from './contract.ts';

const { expire } = Signin.timers;

/**
 * Arms, or moves, the timer that makes the actor a tombstone once nothing it holds counts any more. To be called in
 * every turn that adds to what it holds, so that the timer never comes early.
 */
export function expireLater(turn: Turn): void {
  const { plain, captcha } = turn.get(attemptsSlice);
  const challenges = [...turn.entries(challengeMap).values()].map(({ untilMs }) => untilMs);
  turn.arm(expire, Math.max(plain.untilMs, captcha.untilMs, ...challenges), null);
}

export const expireTimer = timer({ ...expire, missed: 'fire-once', turn: (turn) => turn.tombstone() });
