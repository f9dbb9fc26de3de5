import test from 'ava';
import { systemClock } from '../../runtime/clock.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { startGateway } from '../../test/kit/gateway.ts';
import { healthRoutes } from './health.ts';

const filesServerUrl = 'http://files.test';

test('the health check is plain text and needs nothing', async (t) => {
  const readiness = createReadiness({}, systemClock);
  const { url } = await startGateway(t, healthRoutes({ readiness, filesServerUrl, captchaUiUrl: null }));
  const response = await fetch(`${url}/healthcheck`);
  t.is(response.status, 200);
  t.true(response.headers.get('content-type')?.startsWith('text/plain'));
  t.is(await response.text(), 'OK');
});

test('readiness names what fails, and a check that throws has failed', async (t) => {
  const clock = new FakeClock();
  let leased = true;
  const readiness = createReadiness(
    {
      database: async () => true,
      lease: () => leased,
      workers: () => {
        if (!leased) throw new Error('secret');
        return true;
      },
    },
    clock,
  );
  const { url } = await startGateway(t, healthRoutes({ readiness, filesServerUrl, captchaUiUrl: null }));
  const report = async () => {
    const response = await fetch(`${url}/healthcheck/readiness`);
    return [response.status, await response.json(), response.headers.get('retry-after')];
  };
  const ok = { database: 'ok', lease: 'ok', workers: 'ok', serving: 'ok' };
  t.deepEqual(await report(), [200, { status: 'ready', checks: ok }, null]);
  leased = false;
  await clock.advance(1_000);
  t.deepEqual(await report(), [
    503,
    { status: 'not_ready', checks: { ...ok, lease: 'failed', workers: 'failed' } },
    '5',
  ]);
});

test('a check that hangs has failed after its time', async (t) => {
  const clock = new FakeClock();
  const readiness = createReadiness({ database: () => new Promise(() => {}) }, clock);
  const report = readiness.report();
  await clock.advance(2_000);
  t.deepEqual(await report, { ready: false, checks: { database: 'failed', serving: 'ok' } });
});

test('the metadata has both forms and the files host', async (t) => {
  const readiness = createReadiness({}, systemClock);
  const captchaUiUrl = 'https://captcha.test';
  const { url } = await startGateway(t, healthRoutes({ readiness, filesServerUrl, captchaUiUrl }));
  const metadata = await (await fetch(`${url}/v1/meta`)).json();
  t.deepEqual(metadata, {
    captchaUIUrl: captchaUiUrl,
    data: { captchaUIUrl: captchaUiUrl },
    meta: { auth: {}, server: { filesServerUrl } },
  });
});

test('crawlers are kept out', async (t) => {
  const readiness = createReadiness({}, systemClock);
  const { url } = await startGateway(t, healthRoutes({ readiness, filesServerUrl, captchaUiUrl: null }));
  t.is(await (await fetch(`${url}/robots.txt`)).text(), 'User-agent: *\nDisallow: /\n');
});
