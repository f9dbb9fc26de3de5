import test from 'ava';
import { emptyRoute, goodBearer, openRaw, startGateway } from '../../test/kit/gateway.ts';
import type { AnyRoute, Area } from '../http/route.ts';

const dav: Area = {
  prefix: '/dav',
  ownOptions: true,
  replyHeaders: { DAV: '1, 3', 'Cache-Control': 'private, no-cache', Vary: 'Authorization' },
};

const xml = '<?xml version="1.0"?><D:propfind xmlns:D="DAV:"/>';

const propfind: AnyRoute = emptyRoute('PROPFIND', '/dav/calendars/:user', {
  body: 'bytes',
  bodyLimit: 1_000,
  handle: async (context) => ({
    status: 207,
    bytes: context.body,
    contentType: 'application/xml; charset=utf-8',
  }),
});

/** The headers that identify an area, and the status. */
function marks({ status, headers }: Response) {
  return [status, headers.get('dav'), headers.get('cache-control'), headers.get('vary')];
}

test('methods of DAV reach their routes with the body as it was sent', async (t) => {
  const { url } = await startGateway(t, [propfind, { ...propfind, method: 'REPORT' }], { areas: [dav] });
  for (const method of ['PROPFIND', 'REPORT']) {
    const response = await fetch(`${url}/dav/calendars/a/`, { method, body: xml });
    t.deepEqual([response.status, response.statusText], [207, 'Multi-Status']);
    t.is(response.headers.get('content-type'), 'application/xml; charset=utf-8');
    t.is(await response.text(), xml);
  }
  const other = await fetch(`${url}/dav/calendars/a`, { method: 'MKCALENDAR' });
  t.deepEqual([other.status, other.headers.get('allow')], [405, 'PROPFIND, REPORT']);
});

test('an unknown method is refused like any that is not served', async (t) => {
  const { port } = await startGateway(t, [propfind], { areas: [dav] });
  for (const [method, path, status] of [
    ['PURGE', '/dav/calendars/a', 405],
    ['TRACE', '/none', 404],
    ['X'.repeat(1_000), '/none', 404],
  ] as const) {
    const connection = await openRaw(t, port);
    connection.send(`${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    t.true((await connection.received('}}')).startsWith(`HTTP/1.1 ${status} `), method);
  }
});

test('the headers of an area are on every reply below it, from any source, and on none beside it', async (t) => {
  const failing = emptyRoute('GET', '/dav/fails', { handle: () => Promise.reject(new Error('defect')) });
  const signedIn = emptyRoute('GET', '/dav/mine', { access: 'session' });
  const parameters = emptyRoute('GET', '/dav/p/:name');
  const beside = emptyRoute('GET', '/davy');
  const routes = [propfind, failing, signedIn, parameters, beside];
  const { url } = await startGateway(t, routes, {
    areas: [dav],
    accessKey: { key: 'key', mode: 'all', exempt: [] },
  });
  const ask = async (method: string, path: string, body?: string, key = 'key') =>
    marks(await fetch(url + path, { method, body: body ?? null, headers: { 'X-Shared-Server-Key': key } }));
  const below = ['1, 3', 'private, no-cache', 'Authorization'];
  t.deepEqual(await ask('PROPFIND', '/dav/calendars/a', xml), [207, ...below]);
  t.deepEqual(await ask('PROPFIND', '/dav/calendars/a', 'x'.repeat(1_001)), [413, ...below]);
  t.deepEqual(await ask('PUT', '/dav/calendars/a', xml), [405, ...below]);
  t.deepEqual(await ask('GET', '/dav/none'), [404, ...below]);
  t.deepEqual(await ask('GET', '/dav'), [404, ...below]);
  t.deepEqual(await ask('GET', '/dav/p/%2f'), [400, ...below]);
  t.deepEqual(await ask('GET', '/dav/mine'), [401, ...below]);
  t.deepEqual(await ask('GET', '/dav/fails'), [500, ...below]);
  t.deepEqual(await ask('GET', '/dav/fails', undefined, 'wrong'), [401, ...below]);
  t.deepEqual(await ask('GET', '/davy'), [204, null, 'no-store', 'Origin']);
  t.deepEqual(await ask('GET', '/none'), [404, null, 'no-store', 'Origin']);
});

test('the refusal of too many requests below an area has its headers', async (t) => {
  const { url } = await startGateway(t, [propfind], {
    areas: [dav],
    rateLimits: { publicPerMinute: 1, sessionPerMinute: 0 },
  });
  await fetch(`${url}/dav/none`);
  const refused = await fetch(`${url}/dav/none`);
  t.deepEqual([refused.status, refused.headers.get('dav')], [429, '1, 3']);
});

test('the headers of a route replace those of its area, and an empty one leaves a header out', async (t) => {
  const own = emptyRoute('GET', '/dav/own', { replyHeaders: { 'cache-control': 'no-store', DAV: '' } });
  const { url } = await startGateway(t, [own], { areas: [dav] });
  t.deepEqual(marks(await fetch(`${url}/dav/own`)), [204, null, 'no-store', 'Authorization']);
});

test('OPTIONS is a preflight except where an area has its own', async (t) => {
  const options = emptyRoute('OPTIONS', '/dav/calendars/:user', {
    handle: async () => ({
      status: 200,
      contentType: 'text/plain',
      body: '',
      headers: { Allow: 'OPTIONS, PROPFIND' },
    }),
  });
  const { url } = await startGateway(t, [propfind, options], { areas: [dav] });
  const ask = (path: string) =>
    fetch(url + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.test', 'access-control-request-method': 'PROPFIND' },
    });
  const own = await ask('/dav/calendars/a');
  t.deepEqual(
    [own.status, own.headers.get('allow'), own.headers.get('dav')],
    [200, 'OPTIONS, PROPFIND', '1, 3'],
  );
  t.is(own.headers.get('access-control-allow-methods'), null);
  t.is((await ask('/dav/none')).status, 404);
  const preflight = await ask('/calendars/a');
  t.is(preflight.status, 204);
  t.truthy(preflight.headers.get('access-control-allow-methods'));
});

test('a route with a bucket of its own is counted there and nowhere else', async (t) => {
  const rate = { name: 'dav', perMinute: 2, by: 'address' } as const;
  const routes = [
    emptyRoute('GET', '/a', { rate }),
    emptyRoute('GET', '/b', { rate }),
    emptyRoute('GET', '/c'),
  ];
  const { url } = await startGateway(t, routes, { rateLimits: { publicPerMinute: 1, sessionPerMinute: 1 } });
  const statuses = [];
  for (const path of ['/a', '/b', '/a', '/c', '/c']) statuses.push((await fetch(url + path)).status);
  t.deepEqual(statuses, [204, 204, 429, 204, 429]);
});

test('a bucket by user counts those of a bearer of ours, and a wrong one as any public request', async (t) => {
  const rate = { name: 'pairing', perMinute: 1, by: 'user' } as const;
  const mine = emptyRoute('GET', '/mine', { access: 'session', rate });
  const { url } = await startGateway(t, [mine], { rateLimits: { publicPerMinute: 1, sessionPerMinute: 9 } });
  const ask = async (authorization: string) =>
    (await fetch(`${url}/mine`, { headers: { authorization } })).status;
  t.deepEqual([await ask(goodBearer), await ask(goodBearer)], [204, 429]);
  t.deepEqual([await ask('Bearer wrong'), await ask('Bearer wrong')], [401, 429]);
});

test('a path parameter may be as long as its route says', async (t) => {
  const name = encodeURIComponent('\u5b57'.repeat(255));
  const routes = [
    emptyRoute('GET', '/long/:name', { parameterCharactersMax: 2_400 }),
    emptyRoute('GET', '/short/:name'),
  ];
  const { url } = await startGateway(t, routes);
  t.is((await fetch(`${url}/long/${name}.ics`)).status, 204);
  t.is((await fetch(`${url}/short/${name}.ics`)).status, 400);
});
