import test from 'ava';
import { systemClock } from './clock.ts';
import { createReadiness } from './readiness.ts';

test('a check that is tolerated is told and keeps nobody away, any other does', async (t) => {
  const failing = { transport: () => false, host: () => Promise.reject(new Error('no')) };
  const ofAll = createReadiness(failing, systemClock, ['transport', 'host']);
  t.deepEqual(await ofAll.report(), {
    ready: true,
    checks: { transport: 'degraded', host: 'degraded', serving: 'ok' },
  });
  const ofOne = createReadiness(failing, systemClock, ['transport']);
  t.like(await ofOne.report(), { ready: false, checks: { transport: 'degraded', host: 'failed' } });
  ofAll.startDraining();
  t.like(await ofAll.report(), { ready: false, checks: { serving: 'failed' } });
});
