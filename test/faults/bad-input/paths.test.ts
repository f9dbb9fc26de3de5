/** Request targets that mean something else to another program, or nothing at all. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { type Call, callsOf, targetOf } from './calls.ts';
import { forAll, holds } from './property.ts';
import { type Answer, requestBytes } from './raw-http.ts';
import { bearer, dataOf, jsonType, marker, World } from './world.ts';

let world: World;
let calls: readonly Call[];
test.before(async () => {
  world = await World.open();
  calls = await callsOf(world);
});
test.after.always(() => world.close());

const get = (target: string): Promise<Answer> =>
  world.ask({ method: 'GET', target, headers: bearer(world.sender) });

/** Other spellings of a served path: none of them may reach it. */
const tricks: readonly ((path: string) => string)[] = [
  (path) => `/${path}`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/%2e${path}`,
  (path) => `/x/%2e%2e${path}`,
  (path) => `/..%2f..${path}`,
  (path) => path.replace(/\/([^/]*)$/, '//$1'),
  (path) => path.replace(/\/([^/]*)$/, '%2f$1'),
  (path) => path.replace(/\/([^/]*)$/, '\\$1'),
  (path) => path.replace(/\/([^/]*)$/, '%5c$1'),
  (path) => `${path}//`,
  (path) => `${path}/.`,
  (path) => `${path}/..`,
  (path) => `${path}/%2e%2e`,
  (path) => `${path}%2f`,
  (path) => `${path}%00`,
  (path) => `${path}%0d%0aX-Injected:1`,
  (path) => `${path}%`,
  (path) => `${path}%z`,
  (path) => `${path}%zz`,
  (path) => `${path}%c0%af`,
  (path) => `${path}%ff`,
  (path) => `${path}%ed%a0%80`,
  (path) => `${path}%u002f`,
  (path) => `${path}%252f`,
  (path) => `${path};x=1`,
  (path) => `${path}#x`,
  (path) => path.toUpperCase(),
  (path) => `${path}/x`,
  (path) => `${path}/${'x/'.repeat(200)}`,
  (path) => `${path}/${'x'.repeat(2_000)}`,
  (path) => `${path}${'/'.repeat(500)}`,
  (path) => `${path}\xff`,
];

test.serial('no other spelling of a path reaches what it names', async (t) => {
  const reading = calls.filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/'));
  t.true(reading.length >= 3);
  const cases = reading.flatMap((call) => tricks.map((trick) => trick(targetOf(call))));
  await forAll(cases, async (target) => {
    const { status } = await get(target);
    t.true([400, 403, 404, 405, 410].includes(status), `${status} to ${target.slice(0, 100)}`);
  });
  await world.rest();
});

test.serial('one trailing slash is no other path', async (t) => {
  for (const path of ['/v1/sessions', '/v1/meta', '/healthcheck']) {
    const plain = await get(path);
    const trailing = await get(`${path}/`);
    t.is(plain.status, 200);
    t.is(trailing.status, 200);
  }
});

const pieces = [
  ...['/', '//', '.', '..', '%2e', '%2f', '%2F', '%5c', '%00', '%0a', '%', '%zz', '%c0%af', '%ff', '\\', ';'],
  ...[
    'v1',
    'v2',
    'items',
    'sessions',
    'users',
    'check-integrity',
    'refresh',
    'healthcheck',
    '*',
    '~',
    '\xe9',
  ],
  ...['__proto__', 'constructor', 'toString', '{uuid}', ':uuid', marker, 'ITEMS', '?', '&', '=', '#', '+'],
];

test.serial('no path of odd pieces is answered with more than a refusal', async (t) => {
  const target = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => `/${parts.join('')}`);
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS');
  const served = new Set(['', '/', '/v1/items', '/v1/sessions', '/healthcheck']);
  const isRefused = fc.asyncProperty(method, target, async (named, odd) => {
    const [path = ''] = odd.split('?');
    const { status } = await world.ask({ method: named, target: odd, headers: bearer(world.sender) });
    const mayBeServed = named === 'OPTIONS' || served.has(path) || served.has(path.replace(/\/$/, ''));
    t.true(mayBeServed || status >= 400, `${status} to ${named} ${odd}`);
  });
  await holds(isRefused, 300);
  await world.rest();
});

test.serial('a path of any length is refused', async (t) => {
  for (const length of [1_000, 10_000, 30_000, 100_000, 1_000_000]) {
    for (const path of [
      `/v1/items/${'x'.repeat(length)}`,
      `/${'a/'.repeat(length / 2)}`,
      `/v1/meta${'%41'.repeat(length / 3)}`,
    ]) {
      const { end, answers } = await world.raw([requestBytes({ method: 'GET', target: path })]);
      t.not(end, 'silent');
      for (const { status } of answers)
        t.true([400, 401, 404, 431].includes(status), `${status} to ${length}`);
    }
  }
  await world.rest();
});

test.serial('a query of any form is read or refused', async (t) => {
  const queries = [
    '',
    '?',
    '&&&&',
    '=&==&=',
    '%',
    '%ff=%fe',
    'email=%00',
    'email=a%00b&code_challenge=x',
    '__proto__=1&__proto__[email]=a&constructor[prototype][email]=b',
    'email[]=a&email[x]=b',
    `${'a=b&'.repeat(5_000)}`,
    `email=${'x'.repeat(20_000)}&code_challenge=x`,
    'code_challenge=a&code_challenge=b',
    'api=1&api_version=2&apiVersion=3',
  ];
  for (const query of queries) {
    const target = `/v1/login-params?${query}`;
    const { status } = await world.ask({ method: 'GET', target });
    t.is(status, 400, query.slice(0, 60));
  }
  const params = await get(`/v1/login-params?email=${marker}%40bad.test&code_challenge=x`);
  t.is(params.status, 200);
  t.true('pw_nonce' in (dataOf(params) as object));
  await world.rest();
});

test.serial('a query does not reach what a body should hold', async (t) => {
  const { sender } = world;
  const target = `/v1/items/check-integrity?integrityPayloads=${marker}&uuid=${randomUUID()}`;
  const headers = [...jsonType, ...bearer(sender)];
  t.is((await world.ask({ method: 'POST', target, headers, body: '{}' })).status, 400);
  const users = `/v1/users/${randomUUID()}?userUuid=${sender.userUuid}`;
  const password = ['x-server-password', sender.password] as const;
  const deleted = await world.ask({ method: 'DELETE', target: users, headers: [...headers, password] });
  t.true(deleted.status >= 400);
  const named = await world.ask({
    method: 'DELETE',
    target: `/v1/users/${randomUUID()}`,
    headers: [...headers, password],
    body: JSON.stringify({ userUuid: sender.userUuid }),
  });
  t.true(named.status >= 400);
  t.is((await get('/v1/sessions')).status, 200);
  await world.rest();
});
