/**
 * Counts failed sign-ins to one address by network (docs/protocol/authentication.md, "Attempts and lock-out").
 *
 * Plain failures count first. From `plainAttemptsMax` on, a captcha is required, and failures count as captcha failures. After
 * `captchaAttemptsMax` of those the address is locked for that network. Each failure restarts the time after which its counter
 * is forgotten.
 */
import { z } from 'zod';
import { sliceMap } from '../../runtime/slice.ts';
import type { Refusal } from '../reply.ts';
import type { AccountSettings } from '../settings.ts';

const counterSchema = z.object({
  count: z.number().int(),
  /** Forgotten from then on. */
  untilMs: z.number(),
});
export type Counter = z.infer<typeof counterSchema>;

const attemptsSchema = z.object({ plain: counterSchema, captcha: counterSchema });
export type AttemptCounters = z.infer<typeof attemptsSchema>;

const zero: Counter = { count: 0, untilMs: 0 };
export const zeroCounters: AttemptCounters = { plain: zero, captcha: zero };

/** Networks that are counted separately. The common count of unknown networks bounds the guesses of further ones. */
export const networksMax = 128;

/** Keyed by the key of an `AttemptOrigin`. */
export const attemptsMap = sliceMap<AttemptCounters>({
  family: 'network-attempts',
  schema: attemptsSchema,
  entriesMax: networksMax,
});

type AttemptLimits = Pick<
  AccountSettings,
  'plainAttemptsMax' | 'plainLockoutMs' | 'captchaAttemptsMax' | 'captchaLockoutMs'
>;

/** The attempts that still count. */
export function currentAttempts({ plain, captcha }: AttemptCounters, nowMs: number): AttemptCounters {
  const alive = (counter: Counter) => (nowMs < counter.untilMs ? counter : zero);
  return { plain: alive(plain), captcha: alive(captcha) };
}

export function isLocked({ captcha }: AttemptCounters, limits: AttemptLimits): boolean {
  return captcha.count >= limits.captchaAttemptsMax;
}

/** Whether the next attempt needs a captcha, if one is configured. */
export function needsCaptcha({ plain, captcha }: AttemptCounters, limits: AttemptLimits): boolean {
  return plain.count >= limits.plainAttemptsMax || captcha.count > 0;
}

/** The counters after one more failure. */
export function countersAfterFailure(
  attempts: AttemptCounters,
  nowMs: number,
  limits: AttemptLimits,
): AttemptCounters {
  const { plain, captcha } = attempts;
  if (needsCaptcha(attempts, limits)) {
    return { plain, captcha: { count: captcha.count + 1, untilMs: nowMs + limits.captchaLockoutMs } };
  }
  return { plain: { count: plain.count + 1, untilMs: nowMs + limits.plainLockoutMs }, captcha };
}

/** When the last of the counters is forgotten. */
export const endOf = ({ plain, captcha }: AttemptCounters): number =>
  Math.max(plain.untilMs, captcha.untilMs);

export const lockedOut: Refusal = {
  reason: 'locked',
  message: 'Too many successive login requests. Please try your request again later.',
};
