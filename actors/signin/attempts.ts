/**
 * How often signing in to one address was tried in vain (docs/protocol/authentication.md, "Attempts and lock-out").
 *
 * Plain failures count first; from `plainAttemptsMax` on a captcha is asked for and failures count as captcha
 * failures; with `captchaAttemptsMax` of those the address is locked. Each failure restarts the time after which
 * its counter is forgotten. An attempt is debited before the password is looked at and all are given back when it
 * is right, so that attempts made at the same moment cannot outrun the limit.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import type { Refusal } from '../reply.ts';
import { AccountSettings } from '../settings.ts';

export interface Counter {
  readonly count: number;
  /** Forgotten from then on. */
  readonly untilMs: number;
}

export interface Attempts {
  readonly plain: Counter;
  readonly captcha: Counter;
}

const zero: Counter = { count: 0, untilMs: 0 };
export const noAttempts: Attempts = { plain: zero, captcha: zero };

const counterSchema = z.object({ count: z.number().int(), untilMs: z.number() });
export const attemptsSlice = slice<Attempts>({
  name: 'attempts',
  format: 1,
  schema: z.object({ plain: counterSchema, captcha: counterSchema }),
  initial: noAttempts,
});

type Limits = Pick<
  AccountSettings,
  'plainAttemptsMax' | 'plainLockoutMs' | 'captchaAttemptsMax' | 'captchaLockoutMs'
>;

/** The attempts that still count. */
export function currentAttempts({ plain, captcha }: Attempts, nowMs: number): Attempts {
  const alive = (counter: Counter) => (nowMs < counter.untilMs ? counter : zero);
  return { plain: alive(plain), captcha: alive(captcha) };
}

export function isLocked({ captcha }: Attempts, limits: Limits): boolean {
  return captcha.count >= limits.captchaAttemptsMax;
}

/** Whether the next attempt has to come with a captcha, where one is configured. */
export function needsCaptcha({ plain, captcha }: Attempts, limits: Limits): boolean {
  return plain.count >= limits.plainAttemptsMax || captcha.count > 0;
}

/** The counters after one more failure. */
export function debit(attempts: Attempts, nowMs: number, limits: Limits): Attempts {
  const { plain, captcha } = attempts;
  if (needsCaptcha(attempts, limits)) {
    return { plain, captcha: { count: captcha.count + 1, untilMs: nowMs + limits.captchaLockoutMs } };
  }
  return { plain: { count: plain.count + 1, untilMs: nowMs + limits.plainLockoutMs }, captcha };
}

export const lockedOut: Refusal = {
  status: 423,
  message: 'Too many successive login requests. Please try your request again later.',
};

/** Counts one attempt as failed. An attempt without the captcha it needs is not made, and so not counted. */
export function debitAttempt(turn: Turn, captchaPassed: boolean): 'debited' | 'locked' | 'captcha-missing' {
  const limits = turn.use(AccountSettings);
  const attempts = currentAttempts(turn.get(attemptsSlice), turn.nowMs);
  if (isLocked(attempts, limits)) return 'locked';
  if (needsCaptcha(attempts, limits) && !captchaPassed) return 'captcha-missing';
  turn.set(attemptsSlice, debit(attempts, turn.nowMs, limits));
  return 'debited';
}
