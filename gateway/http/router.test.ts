import test from 'ava';
import fc from 'fast-check';
import { emptyRoute } from '../../test/kit/gateway.ts';
import { refusals } from './refusal.ts';
import { createRouter, isMatch } from './router.ts';

const router = createRouter([
  emptyRoute('GET', '/'),
  emptyRoute('GET', '/v1/items'),
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

test('a path is found with and without a trailing slash, HEAD as GET', (t) => {
  t.deepEqual(find('get', '/'), ['GET /', undefined]);
  t.deepEqual(find('get', '/v1/items'), ['GET /v1/items', undefined]);
  t.deepEqual(find('post', '/v1/items/'), ['POST /v1/items', undefined]);
  t.deepEqual(find('head', '/v1/items/'), ['GET /v1/items', undefined]);
  t.deepEqual(find('get', '/v1/items/7/'), ['GET /v1/items/:uuid', { uuid: '7' }]);
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

test('what is not there is a 404, and what is there for other methods a 405 that names them', (t) => {
  t.is(find('get', '/v1'), 404);
  t.is(find('get', '/v1/nothing/at/all'), 404);
  t.is(find('get', '/v2/items'), 404);
  t.like(router.find('put', '/v1/items'), { status: 405, headers: { Allow: 'GET, POST, OPTIONS' } });
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
