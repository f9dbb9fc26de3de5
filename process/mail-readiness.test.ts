import test from 'ava';
import { NotFoundError, UnavailableError } from '../runtime/errors.ts';
import type { Actors } from '../runtime/handles.ts';
import { createReadiness } from '../runtime/readiness.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { createMailCheck } from './mail-readiness.ts';

const actorsThat = (health: () => Promise<{ good: boolean }>): Actors =>
  ({ get: () => ({ ask: { health } }) }) as unknown as Actors;

for (const [what, health, mail] of [
  ['gets away', async () => ({ good: true }), 'ok'],
  ['does not get away', async () => ({ good: false }), 'degraded'],
  ['was never sent', () => Promise.reject(new NotFoundError('no actor')), 'ok'],
  ['cannot be asked about', () => Promise.reject(new UnavailableError('later')), 'degraded'],
] as const) {
  test(`where mail ${what}, it is ${mail} and the process ready`, async (t) => {
    const clock = new FakeClock();
    const readiness = createReadiness({ mail: createMailCheck(actorsThat(health), clock) }, clock);
    t.deepEqual(await readiness.report(), { ready: true, checks: { mail, serving: 'ok' } });
  });
}

test('the mailer is asked twice a minute, however often readiness is', async (t) => {
  const clock = new FakeClock();
  let asked = 0;
  const check = createMailCheck(
    actorsThat(async () => {
      asked += 1;
      return { good: true };
    }),
    clock,
  );
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await check();
    await clock.advance(1_000);
  }
  t.is(asked, 2);
});
