/**
 * Whether mail gets away, for readiness: never more than degraded, as everything else is served. One actor knows it, so
 * what it said holds for a while, however many processes ask.
 */
import { mailerId } from '../actors/mailer/contract.ts';
import { MailAdministration } from '../actors/mailer/operator-contract.ts';
import type { Clock } from '../runtime/clock.ts';
import { NotFoundError } from '../runtime/errors.ts';
import type { Actors } from '../runtime/handles.ts';
import type { ReadinessCheck } from '../runtime/readiness.ts';

const keptMs = 30_000;
/** Less than a check may take, which would make this process unready. */
const deadlineMs = 1_500;

export function createMailCheck(actors: Actors, clock: Clock): ReadinessCheck {
  let found: boolean | 'degraded' = true;
  let foundUntilMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.monotonicMs() < foundUntilMs) return found;
    foundUntilMs = clock.monotonicMs() + keptMs;
    found = await isGood(actors);
    return found;
  };
}

async function isGood(actors: Actors): Promise<true | 'degraded'> {
  try {
    const { good } = await actors.get(MailAdministration, mailerId).ask.health({}, { deadlineMs });
    return good || 'degraded';
  } catch (error) {
    // No mail was ever sent here.
    return error instanceof NotFoundError || 'degraded';
  }
}
