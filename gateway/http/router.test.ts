import test from 'ava';
import fc from 'fast-check';
import { emptyRoute } from '../../test/kit/gateway.ts';
import { refusals } from './refusal.ts';
import { createRouter, isMatch } from './router.ts';

const safe = { safe: true } as const;
const router = createRouter([
  emptyRoute('GET', '/', safe),
  emptyRoute('GET', '/v1/items', safe),
  emptyRoute('POST', '/v1/items'),
  emptyRoute('GET', '/v1/items/:uuid'),
  emptyRoute('GET', '/v1/items/latest'),
  emptyRoute('DELETE', '/v1/items/:itemUuid'),
  emptyRoute('GET', '/v1/:kind/:uuid/revisions'),
]);

function find(method: string, path: string): unknown {
  const found = router.find(method, path);
  if (!isMatch(found)) return found.status;
  return [`${found.route.method} ${found.route.path}`, found.parameters];
}

test('a path is found with and without a trailing slash, HEAD as a GET that changes nothing', (t) => {
  t.deepEqual(find('get', '/'), ['GET /', undefined]);
  t.deepEqual(find('get', '/v1/items'), ['GET /v1/items', undefined]);
  t.deepEqual(find('post', '/v1/items/'), ['POST /v1/items', undefined]);
  t.deepEqual(find('head', '/v1/items/'), ['GET /v1/items', undefined]);
  t.deepEqual(find('get', '/v1/items/7/'), ['GET /v1/items/:uuid', { uuid: '7' }]);
  t.like(router.find('head', '/v1/items/7'), { status: 405, headers: { Allow: 'GET, DELETE, OPTIONS' } });
});

test('HEAD may have a route of its own, but not beside a GET that answers it', (t) => {
  const get = emptyRoute('GET', '/a');
  const head = emptyRoute('HEAD', '/a');
  t.like(createRouter([get, head]).find('head', '/a'), { route: { method: 'HEAD' } });
  t.throws(() => createRouter([{ ...get, ...safe }, head]), { message: /HEAD \/a is declared twice/ });
  t.throws(() => createRouter([emptyRoute('POST', '/a', safe)]), { message: /cannot be safe/ });
});

test('a literal segment wins over a parameter, which is tried when the literal leads nowhere', (t) => {
  t.deepEqual(find('get', '/v1/items/latest'), ['GET /v1/items/latest', undefined]);
  t.deepEqual(find('get', '/v1/items/7/revisions'), [
    'GET /v1/:kind/:uuid/revisions',
    { kind: 'items', uuid: '7' },
  ]);
  t.deepEqual(find('get', '/v1/items/latest/revisions'), [
    'GET /v1/:kind/:uuid/revisions',
    { kind: 'items', uuid: 'latest' },
  ]);
});

test('each method has its own parameter names', (t) => {
  t.deepEqual(find('delete', '/v1/items/7'), ['DELETE /v1/items/:itemUuid', { itemUuid: '7' }]);
});

test('an unknown path is a 404, and one that has other methods a 405 that names them', (t) => {
  t.is(find('get', '/v1'), 404);
  t.is(find('get', '/v1/nothing/at/all'), 404);
  t.is(find('get', '/v2/items'), 404);
  t.like(router.find('put', '/v1/items'), { status: 405, headers: { Allow: 'GET, HEAD, POST, OPTIONS' } });
  t.is(find('propfind', '/v1/items'), 405);
  t.is(find('propfind', '/v1'), 404);
  t.is(find('nonsense', '/v1/items/7'), 405);
  t.is(find('nonsense', '/v1'), 404);
});

test('parameters are decoded, and whatever could mean another path is refused', (t) => {
  t.deepEqual(find('get', '/v1/items/a%40b%C3%BC'), ['GET /v1/items/:uuid', { uuid: 'a@bü' }]);
  const tricks = ['a%2Fb', 'a%5cb', '%2e%2e', '..', '.', '%', '%zz', '%ff', '%00', 'a%0d%0ab', '', 'a\\b'];
  for (const trick of tricks) t.is(find('get', `/v1/items/${trick}/revisions`), 400, trick);
  t.is(find('get', '//v1/items'), 400);
  t.is(find('get', 'http://other/v1/items'), 400);
  t.is(find('get', `/v1/items/${'a'.repeat(1_025)}`), 400);
});

test('no path makes it throw, and what it finds has plain segments only', (t) => {
  const unit = fc.constantFrom('/', '%', '.', '2', 'f', 'e', 'v1', 'items', '\u0000', 'é', '\\');
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (rest) => {
        const found = router.find('get', `/${rest}`);
        if (!isMatch(found))
          return found === refusals.invalidPath || found === refusals.unknownRoute || found.status === 405;
        return Object.values(found.parameters ?? {}).every(
          (value) => value !== '' && !/[/\\]|^\.\.?$/.test(value),
        );
      }),
      { numRuns: 2_000 },
    ),
  );
});

test('a route declared twice is a defect that shows at start', (t) => {
  t.throws(() => createRouter([emptyRoute('GET', '/a/:b'), emptyRoute('GET', '/a/:c')]), {
    message: /declared twice/,
  });
});

test('a route may take longer parameters than others, as sent with their escapes', (t) => {
  const name = '\u5b57'.repeat(255);
  const escaped = encodeURIComponent(name);
  t.is(escaped.length, 2_295);
  const routes = [
    emptyRoute('GET', '/a/:name', { parameterCharactersMax: 2_295 }),
    emptyRoute('GET', '/b/:name'),
  ];
  const found = createRouter(routes);
  t.like(found.find('get', `/a/${escaped}`), { parameters: { name } });
  t.is(found.find('get', `/a/${escaped}x`), refusals.invalidPath);
  t.is(found.find('get', `/b/${escaped}`), refusals.invalidPath);
  t.like(found.find('get', `/b/${'x'.repeat(1_024)}`), { parameters: { name: 'x'.repeat(1_024) } });
});

test('an area is what lies below its path, however that is escaped, and the innermost counts', (t) => {
  const areas = [
    { prefix: '/dav', ownOptions: true, replyHeaders: { DAV: '1' } },
    { prefix: '/dav/open', replyHeaders: { DAV: '2' } },
  ] as const;
  const { areaOf } = createRouter([], areas);
  const davOf = (path: string) => /DAV: (\d)/.exec(areaOf(path).headers.text)?.[1];
  for (const path of ['/dav', '/dav/', '/dav/a/b', '/%64av/a']) t.is(davOf(path), '1', path);
  for (const path of ['/dav/open', '/dav/open/a']) t.is(davOf(path), '2', path);
  for (const path of ['/', '/davy', '/dave/dav', '', '*', '/%zz']) t.is(davOf(path), undefined, path);
});

test('OPTIONS is a route only where an area says that it is no preflight, and its Allow names what there is', (t) => {
  const routes = [emptyRoute('OPTIONS', '/dav'), emptyRoute('PROPFIND', '/dav')];
  t.throws(() => createRouter(routes), { message: /never be called/ });
  const areas = [{ prefix: '/dav', ownOptions: true }] as const;
  const found = createRouter(routes, areas).find('get', '/dav');
  t.like(found, { status: 405, headers: { Allow: 'OPTIONS, PROPFIND' } });
  const without = createRouter([emptyRoute('PROPFIND', '/dav')], areas);
  t.like(without.find('options', '/dav'), { status: 405, headers: { Allow: 'PROPFIND' } });
});

test('a body or a count declared for what has none is a defect that shows at start', (t) => {
  for (const body of ['bytes', 'stream'] as const) {
    t.throws(() => createRouter([emptyRoute('GET', '/a', { body })]), { message: /takes a body/ });
  }
  const rate = { name: 'a', perMinute: 1, by: 'user' } as const;
  t.throws(() => createRouter([emptyRoute('GET', '/a', { rate })]), { message: /no users to count by/ });
});
