/**
 * Whether mail gets out, for readiness and metrics. The worst state is degraded, because everything else is served.
 * One actor knows it, so its answer stays valid for a while, however many processes ask.
 */
import { Gauge, type Registry } from 'prom-client';
import { mailerId } from '../actors/mailer/contract.ts';
import { MailAdministration, type MailHealth } from '../actors/mailer/operator-contract.ts';
import type { Clock } from '../runtime/clock.ts';
import { NotFoundError } from '../runtime/errors.ts';
import type { Actors } from '../runtime/handles.ts';
import { meterOf } from '../runtime/meter.ts';
import type { ReadinessCheck } from '../runtime/readiness.ts';

const cacheMs = 30_000;
/** Less than the time of a check, which would otherwise make this process unready. */
const deadlineMs = 1_500;

/** The state before the first mail. */
const none: MailHealth = {
  good: true,
  mails: { ready: 0, waiting: 0, leased: 0, dead: 0 },
  oldestReadyMs: 0,
};

export function createMailCheck(actors: Actors, clock: Clock, registry: Registry): ReadinessCheck {
  let found: MailHealth | undefined = none;
  let foundUntilMs = Number.NEGATIVE_INFINITY;
  const check = async (): Promise<true | 'degraded'> => {
    if (clock.monotonicMs() >= foundUntilMs) {
      foundUntilMs = clock.monotonicMs() + cacheMs;
      found = await healthOf(actors);
    }
    return found?.good || 'degraded';
  };
  registerMailGauges(registry, () => found, check);
  return check;
}

/** Undefined if no host answers. */
async function healthOf(actors: Actors): Promise<MailHealth | undefined> {
  try {
    return await actors.get(MailAdministration, mailerId).ask.health({}, { deadlineMs });
  } catch (error) {
    return error instanceof NotFoundError ? none : undefined;
  }
}

/**
 * `check` asks the mailer in the background. The next scrape shows its answer, so that it does not delay all other
 * metrics.
 */
export function registerMailGauges(
  registry: Registry,
  found: () => MailHealth | undefined,
  check: () => unknown,
): void {
  new Gauge({
    name: 'scriptorium_mail_queue_mails',
    help: 'Mails in the queue of the whole server by state, as last heard. States: `ready` to be sent, `waiting` for the time of their next attempt, `leased` while they are sent, `dead`',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      check();
      this.reset();
      for (const [state, count] of Object.entries(found()?.mails ?? {})) this.set({ state }, count);
    },
  });
  meterOf(registry).gauge(
    'scriptorium_mail_queue_oldest_ready_seconds',
    'How long the mail that has been ready for longest waits to be sent; 0 if none does',
    () => {
      const health = found();
      return health && health.oldestReadyMs / 1_000;
    },
  );
}
