/**
 * The common count of failures from all networks from which nobody has signed in to an address. Networks are cheap, so an attacker
 * with many of them could guess without end if each were only counted separately.
 *
 * The first `unknownOriginAttemptsMax` are free. From then on unknown networks have to wait after each failure: a minute at first,
 * then twice as long each time, an hour at most. They are never locked out for good, and do not affect known networks. The whole
 * count is forgotten `captchaLockoutMs` after the last failure.
 */
import { z } from 'zod';
import type { ClockedView } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { AccountSettings } from '../settings.ts';

const failuresSchema = z.object({
  count: z.number().int(),
  /** When the last of them failed. */
  lastMs: z.number(),
});
type UnknownFailures = z.infer<typeof failuresSchema>;

export const noUnknownFailures: UnknownFailures = { count: 0, lastMs: 0 };

export const unknownFailuresSlice = slice<UnknownFailures>({
  name: 'strangers',
  schema: failuresSchema,
  initial: noUnknownFailures,
});

type OriginLimits = Pick<AccountSettings, 'unknownOriginAttemptsMax' | 'captchaLockoutMs'>;

const firstDelayMs = 60_000;
const longestDelayMs = 3_600_000;

/** The failures that still count. */
export function currentUnknownFailures(view: ClockedView): UnknownFailures {
  const failures = view.get(unknownFailuresSlice);
  return view.nowMs < endOfUnknownFailures(failures, view.use(AccountSettings))
    ? failures
    : noUnknownFailures;
}

export function endOfUnknownFailures(
  { count, lastMs }: UnknownFailures,
  { captchaLockoutMs }: OriginLimits,
): number {
  return count === 0 ? 0 : lastMs + captchaLockoutMs;
}

/** When an unknown network may try again. */
export function nextAttemptMs({ count, lastMs }: UnknownFailures, limits: OriginLimits): number {
  const surplus = count - limits.unknownOriginAttemptsMax;
  if (surplus < 0) return 0;
  return lastMs + Math.min(firstDelayMs * 2 ** surplus, longestDelayMs);
}
