import test from 'ava';
import { systemClock } from '../../runtime/clock.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { emptyRoute, startGateway } from '../../test/kit/gateway.ts';
import { healthRoutes } from '../routes/health.ts';

const readiness = createReadiness({}, systemClock);
const routes = [
  ...healthRoutes({ readiness, filesServerUrl: '', captchaUiUrl: null }),
  emptyRoute('POST', '/v1/users'),
  emptyRoute('POST', '/auth'),
  emptyRoute('POST', '/v2/login'),
];

async function statuses(url: string, key?: string): Promise<Record<string, number>> {
  const headers: Record<string, string> = key === undefined ? {} : { 'X-Shared-Server-Key': key };
  const result: Record<string, number> = {};
  for (const request of [
    'GET /healthcheck',
    'GET /healthcheck/readiness',
    'POST /v1/users/',
    'POST /auth',
    'POST /v2/login',
    'GET /none',
  ]) {
    const [method = '', path = ''] = request.split(' ');
    result[request] = (await fetch(url + path, { method, headers })).status;
  }
  return result;
}

const open = {
  'GET /healthcheck': 200,
  'GET /healthcheck/readiness': 200,
  'POST /v1/users/': 204,
  'POST /auth': 204,
  'POST /v2/login': 204,
  'GET /none': 404,
};

test('calendar programs need no key where the operator says so, and nothing else is let in with them', async (t) => {
  const dav = [...routes, emptyRoute('PROPFIND', '/dav'), emptyRoute('PROPFIND', '/davy')];
  const accessKey = { key: 'key', mode: 'all', davPath: '/dav' } as const;
  const statusAt = async (exempt: readonly 'dav'[], path: string) => {
    const { url } = await startGateway(t, dav, { accessKey: { ...accessKey, exempt } });
    return (await fetch(url + path, { method: 'PROPFIND' })).status;
  };
  t.is(await statusAt([], '/dav'), 401);
  t.deepEqual([await statusAt(['dav'], '/dav/'), await statusAt(['dav'], '/dav/none')], [204, 404]);
  for (const path of ['/davy', '/', '/x/dav/', '/dav/../davy', '/%64av'])
    t.is(await statusAt(['dav'], path), 401, path);
});

test('with a key everything but the health paths needs it, and preflights pass', async (t) => {
  const { url } = await startGateway(t, routes, { accessKey: { key: 'key', mode: 'all', exempt: [] } });
  t.deepEqual(await statuses(url, 'key'), open);
  for (const wrong of [undefined, 'other', 'key2', 'ke']) {
    t.deepEqual(await statuses(url, wrong), {
      ...open,
      'POST /v1/users/': 401,
      'POST /auth': 401,
      'POST /v2/login': 401,
      'GET /none': 401,
    });
  }
  const refused = await fetch(`${url}/v2/login`, { method: 'POST' });
  t.deepEqual(await refused.json(), { error: { message: 'Access to this server is restricted.' } });
  const preflight = await fetch(`${url}/v2/login`, {
    method: 'OPTIONS',
    headers: { origin: 'http://a.test' },
  });
  t.is(preflight.status, 204);
});

test('registration alone can be guarded', async (t) => {
  const { url } = await startGateway(t, routes, {
    accessKey: { key: 'key', mode: 'registration', exempt: [] },
  });
  t.deepEqual(await statuses(url), { ...open, 'POST /v1/users/': 401, 'POST /auth': 401 });
  t.deepEqual(await statuses(url, 'key'), open);
});

test('off is off', async (t) => {
  const { url } = await startGateway(t, routes, { accessKey: { key: 'key', mode: 'off', exempt: [] } });
  t.deepEqual(await statuses(url), open);
});

test('the key cannot be guessed faster than the public rate allows', async (t) => {
  const { url } = await startGateway(t, routes, {
    accessKey: { key: 'key', mode: 'all', exempt: [] },
    rateLimits: { publicPerMinute: 3, sessionPerMinute: 0 },
  });
  const guesses: number[] = [];
  for (let guess = 0; guess < 5; guess += 1) {
    const headers = { 'X-Shared-Server-Key': `guess ${guess}` };
    guesses.push((await fetch(`${url}/v2/login`, { method: 'POST', headers })).status);
  }
  t.deepEqual(guesses, [401, 401, 401, 429, 429]);
});

test('requests that web clients send without the key can be exempt, and nothing beside them', async (t) => {
  const request = [
    ['GET', '/v1/assistant/config'],
    ['POST', '/v1/assistant/stream'],
    ['GET', '/v1/assistant/subscription/list'],
    ['GET', '/v1/assistant/subscription/callback'],
    ['POST', '/v1/assistant/subscription/callback'],
    ['POST', '/v1/integrations/codehost/publish'],
    ['POST', '/v1/integrations/github/publish'],
  ] as const;
  const without = async (exempt: readonly ('assistant' | 'codehost' | 'callback')[]) => {
    const { url } = await startGateway(
      t,
      request.map(([method, path]) => emptyRoute(method, path)),
      { accessKey: { key: 'key', mode: 'all', exempt } },
    );
    return Promise.all(request.map(async ([method, path]) => (await fetch(url + path, { method })).status));
  };
  t.deepEqual(await without([]), [401, 401, 401, 401, 401, 401, 401]);
  t.deepEqual(await without(['assistant']), [204, 204, 401, 401, 401, 401, 401]);
  t.deepEqual(await without(['callback']), [401, 401, 401, 204, 401, 401, 401]);
  t.deepEqual(await without(['codehost']), [401, 401, 401, 401, 401, 204, 204]);
});
