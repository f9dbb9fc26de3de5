/**
 * The failures of all strangers of an address together. Strangers are networks from which nobody has signed in to it. Networks are
 * cheap, so an attacker with many of them could guess without end if each were only counted separately.
 *
 * The first `strangerAttemptsMax` are free. From then on strangers have to wait after each failure, a minute at first and twice as
 * long each time, an hour at most. They are never locked out for good, and do not affect known networks. All is forgotten
 * `captchaLockoutMs` after the last failure.
 */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { AccountSettings } from '../settings.ts';

export interface Strangers {
  readonly count: number;
  /** When the last of them failed. */
  readonly lastMs: number;
}

export const noStrangers: Strangers = { count: 0, lastMs: 0 };

export const strangersSlice = slice<Strangers>({
  name: 'strangers',
  format: 1,
  schema: z.object({ count: z.number().int(), lastMs: z.number() }),
  initial: noStrangers,
});

type Limits = Pick<AccountSettings, 'strangerAttemptsMax' | 'captchaLockoutMs'>;

const firstDelayMs = 60_000;
const longestDelayMs = 3_600_000;

/** The failures that still count. */
export function currentStrangers(view: View & { readonly nowMs: number }): Strangers {
  const strangers = view.get(strangersSlice);
  return view.nowMs < endOfStrangers(strangers, view.use(AccountSettings)) ? strangers : noStrangers;
}

export function endOfStrangers({ count, lastMs }: Strangers, { captchaLockoutMs }: Limits): number {
  return count === 0 ? 0 : lastMs + captchaLockoutMs;
}

/** When a stranger may try again. */
export function nextAttemptMs({ count, lastMs }: Strangers, limits: Limits): number {
  const surplus = count - limits.strangerAttemptsMax;
  if (surplus < 0) return 0;
  return lastMs + Math.min(firstDelayMs * 2 ** surplus, longestDelayMs);
}
