import test from 'ava';
import { Registry } from 'prom-client';
import type { MailHealth } from '../actors/mailer/operator-contract.ts';
import { NotFoundError, UnavailableError } from '../runtime/errors.ts';
import type { Actors } from '../runtime/handles.ts';
import { createReadiness } from '../runtime/readiness.ts';
import { drainPromises, FakeClock } from '../test/kit/clock.ts';
import { createMailCheck } from './mail-readiness.ts';

const mails = { ready: 0, waiting: 0, leased: 0, dead: 0 };
const saying = (good: boolean): MailHealth => ({ good, mails, oldestReadyMs: 0 });

const actorsThat = (health: () => Promise<MailHealth>): Actors =>
  ({ get: () => ({ ask: { health } }) }) as unknown as Actors;

for (const [what, health, mail] of [
  ['gets away', async () => saying(true), 'ok'],
  ['does not get away', async () => saying(false), 'degraded'],
  ['was never sent', () => Promise.reject(new NotFoundError('no actor')), 'ok'],
  ['cannot be asked about', () => Promise.reject(new UnavailableError('later')), 'degraded'],
] as const) {
  test(`where mail ${what}, it is ${mail} and the process ready`, async (t) => {
    const clock = new FakeClock();
    const readiness = createReadiness(
      { mail: createMailCheck(actorsThat(health), clock, new Registry()) },
      clock,
    );
    t.deepEqual(await readiness.report(), { ready: true, checks: { mail, serving: 'ok' } });
  });
}

test('the mailer is asked twice a minute, however often readiness is', async (t) => {
  const clock = new FakeClock();
  let calls = 0;
  const check = createMailCheck(
    actorsThat(async () => {
      calls += 1;
      return saying(true);
    }),
    clock,
    new Registry(),
  );
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await check();
    await clock.advance(1_000);
  }
  t.is(calls, 2);
});

test('metrics show what the mailer last said, wait for it no more than readiness does, and show nothing it did not say', async (t) => {
  const clock = new FakeClock();
  const registry = new Registry();
  const answers: (() => Promise<MailHealth>)[] = [
    async () => ({ good: true, mails: { ready: 3, waiting: 2, leased: 1, dead: 4 }, oldestReadyMs: 1_500 }),
    () => Promise.reject(new UnavailableError('later')),
  ];
  createMailCheck(
    actorsThat(() => answers.shift()?.() ?? Promise.reject(new Error('asked too often'))),
    clock,
    registry,
  );
  const report = async () => {
    const text = await registry.metrics();
    await drainPromises();
    return text.split('\n').filter((line) => line.startsWith('scriptorium_mail_queue_'));
  };
  t.is((await report()).length, 5);
  const said = [
    'scriptorium_mail_queue_mails{state="ready"} 3',
    'scriptorium_mail_queue_mails{state="waiting"} 2',
    'scriptorium_mail_queue_mails{state="leased"} 1',
    'scriptorium_mail_queue_mails{state="dead"} 4',
    'scriptorium_mail_queue_oldest_ready_seconds 1.5',
  ];
  t.deepEqual(await report(), said);
  await clock.advance(30_000);
  t.deepEqual(await report(), said);
  t.deepEqual(await report(), []);
});
