/** Heads of requests: too many headers, too long ones, injected lines, cookies by the hundred. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { forAll, holds } from './property.ts';
import { type Answer, type ExchangeResult, requestBytes } from './raw-http.ts';
import { bearer, dataOf, type Headers, marker, World } from './world.ts';

let world: World;
test.before(async () => {
  world = await World.open();
});
test.after.always(() => world.close());

/** A request that is valid except for these headers. */
function get(headers: Headers, target = '/v1/sessions'): Promise<ExchangeResult> {
  return world.raw([requestBytes({ method: 'GET', target, headers: [...bearer(world.sender), ...headers] })]);
}

/** The library refuses broken HTTP: in its own words, or by closing. */
function isRefusedOrClosed({ end, answers }: ExchangeResult): boolean {
  if (end === 'silent') return false;
  return answers.every(({ status }) => status === 400 || status === 431 || status === 505);
}

const names = (answer: Answer) => [...answer.headers.keys()];

test.serial('headers by the thousand and headers of any size are refused', async (t) => {
  for (const count of [101, 1_000, 5_000]) {
    const headers = Array.from({ length: count }, (_, n): [string, string] => [`X-${n}`, marker]);
    t.true(isRefusedOrClosed(await get(headers)), `${count} headers`);
  }
  for (const length of [33_000, 200_000, 2_000_000]) {
    t.true(isRefusedOrClosed(await get([['X-Long', 'v'.repeat(length)]])), `a value of ${length}`);
    t.true(isRefusedOrClosed(await get([['n'.repeat(length), marker]])), `a name of ${length}`);
    t.true(isRefusedOrClosed(await get([['Authorization', `Bearer ${'1'.repeat(length)}`]])), `${length}`);
  }
  await world.rest();
});

test.serial('many headers within the limits are read like few', async (t) => {
  const headers = Array.from({ length: 80 }, (_, n): [string, string] => [`X-${n}`, 'v'.repeat(300)]);
  const { answers } = await get(headers);
  t.is(answers[0]?.status, 200);
  await world.rest();
});

const broken = [
  'X Y: 1',
  ': 1',
  'X\0Y: 1',
  'X: a\0b',
  'Cookie: \0=\x01',
  'User-Agent: \x01',
  'X: a\rb',
  'X: a\nb',
  'X-No-Colon',
  ' folded: 1',
  'X\t: 1',
  'Transfer-Encoding : chunked',
  'Content-Length\0: 5',
  '\x7f: 1',
  'é: 1',
  '"": ""',
];

/** The library waits for the rest of a head that it cannot read. A client that has sent everything need not wait. */
const saysAll = { halfCloses: true };

test.serial('broken header lines are refused, closed upon or ignored', async (t) => {
  await forAll(broken, async (line) => {
    const head = `GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\n${line}\r\n\r\n`;
    const { end, answers } = await world.raw([Buffer.from(head, 'latin1')], saysAll);
    t.not(end, 'silent', JSON.stringify(line));
    for (const { status } of answers) t.true(status >= 400 && status < 500, `${status} ${line}`);
  });
  await world.rest();
});

/** Requests that a browser must be tricked into, or that come through a proxy that forwards line feeds. */
const injections = ['\nX-Injected: 1', '\rX-Injected: 1', '\n\n<script>', '\0', '\u0085X-Injected: 1', '\t'];
const reflected = [
  'Origin',
  'Access-Control-Request-Headers',
  'Access-Control-Request-Method',
  'Host',
  'X-Request-Id',
  'User-Agent',
  'X-Forwarded-For',
  'X-SNJS-Version',
  'X-Application-Version',
  'Cookie',
  'X-Shared-Server-Key',
];

test.serial('no header of a request puts a line into the head of its answer', async (t) => {
  const sent = fc.record({
    method: fc.constantFrom('GET', 'OPTIONS', 'POST', 'HEAD'),
    name: fc.constantFrom(...reflected),
    before: fc.constantFrom('http://a.test', marker, '', '*'),
    injected: fc.oneof(fc.constantFrom(...injections), fc.string({ unit: 'binary', maxLength: 20 })),
  });
  const staysInLine = fc.asyncProperty(sent, async ({ method, name, before, injected }) => {
    const value = Buffer.from(before + injected).toString('latin1');
    // A whole line break is no injection: it makes two headers for any reader.
    fc.pre(!value.includes('\r\n'));
    const headers: Headers = [[name, value]];
    const bytes = requestBytes({ method, target: '/v1/sessions', headers });
    const { end, answers } = await world.raw([bytes], { ...saysAll, isHead: method === 'HEAD' });
    t.not(end, 'silent');
    for (const answer of answers) {
      t.false(names(answer).includes('x-injected'));
      t.true(answer.status < 500, `${answer.status}`);
    }
  });
  await holds(staysInLine, 200);
  await world.rest();
});

test.serial(
  'the user agent of a client may be any bytes, and its sessions can still be listed',
  async (t) => {
    const hostileTexts = ['\xff\xfe', '\xed\xa0\x80', 'é'.repeat(3_000), '<b>\x7f', '"', '\\', marker];
    for (const value of hostileTexts) {
      const email = `${marker}-${randomUUID()}@bad.test`;
      const answer = await world.post(
        '/v1/users',
        { api: '20200115', email, password: marker, pw_nonce: marker },
        [
          ['User-Agent', value],
          ['X-SNJS-Version', value],
          ['X-Application-Version', value],
          ['X-Forwarded-For', `${value}, 999.1.1.1, ::ffff:1.2.3.4.5, [`],
        ],
      );
      t.is(answer.status, 200, JSON.stringify(value));
      const { session } = dataOf(answer) as { session: { access_token: string } };
      const authorization: Headers = [['Authorization', `Bearer ${session.access_token}`]];
      const listed = await world.ask({ method: 'GET', target: '/v1/sessions', headers: authorization });
      t.is((dataOf(listed) as unknown[]).length, 1);
    }
    await world.rest();
  },
);

test.serial('cookies of any number and form let no one in, and keep no one out', async (t) => {
  const owner = await world.register('20240226');
  const [access = ''] = owner.cookies;
  const [name = ''] = access.split('=');
  const ask = async (cookie: string) => {
    const headers: Headers = [...bearer(owner), ['Cookie', cookie]];
    return (await world.ask({ method: 'GET', target: '/v1/sessions', headers })).status;
  };
  const many = (count: number, one: (n: number) => string) => Array.from({ length: count }, (_, n) => one(n));
  const others = many(100, (n) => `${marker}${n}=${n}`).join('; ');
  t.is(await ask(access), 200);
  t.is(await ask(`${others}; ${access}`), 200);
  t.is(await ask(`${name}=wrong; ${name}=; ${access}`), 200);
  const wrong = [
    '',
    '=',
    ';;;;',
    name,
    `${name}=`,
    `${name}="`,
    `${name}=${'x'.repeat(20_000)}`,
    many(500, (n) => `${name}=${n}`).join(';'),
    many(500, (n) => `access_token_${n}=${n}`).join('; '),
    `__proto__=1; constructor=2; access_token___proto__=${marker}`,
    `${name.toUpperCase()}=${access.split('=')[1]}`,
    access.slice(0, -1),
    `${access}x`,
    '\xff=\xfe; \x80=\x7f',
  ];
  for (const cookie of wrong) t.is(await ask(cookie), 401, cookie.slice(0, 60));
  t.is(await ask(access), 200);
  await world.rest();
});

test.serial('methods that are not served are refused in JSON or by the library', async (t) => {
  for (const method of [
    'PUT',
    'PATCH',
    'DELETE',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'get',
    'G\0T',
    'X'.repeat(9_000),
  ]) {
    const { end, answers } = await world.raw([requestBytes({ method, target: '/v1/items' })]);
    t.not(end, 'silent', method.slice(0, 20));
    for (const { status } of answers)
      t.true((status >= 400 && status < 500 && status !== 401) || status === 505, `${method} ${status}`);
  }
  await world.rest();
});
