import { type TimerHandler, type Turn, timer } from '../../runtime/command.ts';
import { attemptsSlice } from './attempts.ts';
import { challengeMap } from './challenges.ts';

/** Arms the timer that buries the actor once nothing it holds counts any more. After every turn that adds to it. */
export function expireLater(turn: Turn): void {
  turn.arm('expire', latestExpiryMs(turn));
}

function latestExpiryMs(turn: Turn): number {
  const { plain, captcha } = turn.get(attemptsSlice);
  const challenges = [...turn.entries(challengeMap).values()].map(({ untilMs }) => untilMs);
  return Math.max(plain.untilMs, captcha.untilMs, ...challenges, turn.nowMs);
}

export const expireTimer: TimerHandler = timer({
  missed: 'fire-once',
  turn: (turn) => {
    if (latestExpiryMs(turn) > turn.nowMs) expireLater(turn);
    else turn.bury();
  },
});
