/** Bodies that are no JSON, no UTF-8, no object, too deep, too long or too large, on every route that takes one. */
import { gzipSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { type Call, callsOf, goodFields, objectText, targetOf } from './calls.ts';
import { forAll, holds } from './property.ts';
import type { Answer } from './raw-http.ts';
import { bearer, dataOf, jsonType, marker, newItem, type Sync, World } from './world.ts';

let world: World;
/** All routes that may have a body, with or without fields in it. */
let calls: readonly Call[];
test.before(async () => {
  world = await World.open();
  calls = (await callsOf(world)).filter(({ method, isRaw }) => method !== 'GET' && !isRaw);
});
test.after.always(() => world.close());

function send(call: Call, body: Buffer | string): Promise<Answer> {
  const { method } = call;
  const headers = [...jsonType, ...bearer(world.sender)];
  return world.ask({ method, target: targetOf(call), headers, body });
}

const mebibyte = 1024 * 1024;
const notObjects = ['[]', '[{}]', '"{}"', '0', 'null', 'true', '-0', '1e400', '[[[]]]'];
const notJson = [
  ' ',
  '{',
  '}',
  '{}{}',
  '{},',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  "{'a':1}",
  '{a:1}',
  '{"a":01}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":undefined}',
  '{"a":"\\x"}',
  '{"a":"\\u12"}',
  '{"a":"\n"}',
  '{"a":"\0"}',
  '{}\0',
  '\ufeff{}',
  '{"a":1}//',
  '{/**/}',
  'undefined',
  'a=1&b=2',
  '<?xml version="1.0"?><a/>',
  '--boundary\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--boundary--',
];

test.serial('a body that is no JSON or no object is a 400 on every route', async (t) => {
  t.true(calls.length >= 13);
  const cases = calls.flatMap((call) => [...notJson, ...notObjects].map((body) => ({ call, body })));
  await forAll(cases, async ({ call, body }) => {
    t.is((await send(call, body)).status, 400, `${call.method} ${call.path} ${body}`);
  });
  await world.rest();
});

const notUtf8 = [
  [0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xed, 0xa0, 0xbd, 0xed, 0xb2, 0xa9],
  [0xe2, 0x82],
  [0xf4, 0x90, 0x80, 0x80],
  [0x80],
].map((bytes) => Buffer.from(bytes));

test.serial('bytes that are no UTF-8 are 400, in every place of a body', async (t) => {
  const taking = calls.filter(({ fields }) => fields.length > 0);
  const sent = fc.record({
    call: fc.constantFrom(...taking),
    bytes: fc.constantFrom(...notUtf8),
    offset: fc.nat(),
  });
  const isRefused = fc.asyncProperty(sent, async ({ call, bytes, offset }) => {
    const good = Buffer.from(objectText(goodFields(call)));
    const at = offset % (good.length + 1);
    const body = Buffer.concat([good.subarray(0, at), bytes, good.subarray(at)]);
    t.is((await send(call, body)).status, 400);
  });
  await holds(isRefused, 60);
  for (const text of ['utf16le', 'utf8'] as const) {
    const body = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{}', text)]);
    t.is((await world.ask({ method: 'POST', target: '/v2/login', headers: jsonType, body })).status, 400);
  }
  await world.rest();
});

/** A valid body with a piece of it lost, doubled or replaced. */
const damage = fc.record({
  at: fc.nat(),
  length: fc.integer({ min: 0, max: 8 }),
  inserted: fc.oneof(fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '\0', 'e', '-'), fc.string()),
});

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Large bodies are parsed in a different way, in slices. */
async function damagedIsRefused(padding: string, runs: number): Promise<void> {
  const sync = calls.find(({ path, method }) => path === '/v1/items' && method === 'POST');
  if (sync === undefined) throw new Error('there is no sync');
  const isRefused = fc.asyncProperty(damage, async ({ at, length, inserted }) => {
    const good = objectText(goodFields(sync));
    const from = at % good.length;
    const damaged = `${good.slice(0, from)}${inserted}${padding}${good.slice(from + length)}`;
    const { status } = await send(sync, damaged);
    if (!isJsonObject(damaged) && status !== 400) throw new Error(`${status} to what is no JSON`);
  });
  await holds(isRefused, runs);
}

test.serial('a damaged body is 400', async (t) => {
  await damagedIsRefused('', 150);
  await t.notThrowsAsync(world.rest());
});

test.serial('a damaged body of more than a megabyte is 400', async (t) => {
  await damagedIsRefused(' '.repeat(1.1 * mebibyte), 10);
  await t.notThrowsAsync(world.rest());
});

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

test.serial('nesting of any depth is refused and exhausts no stack', async (t) => {
  for (const depth of [100, 30_000]) {
    for (const text of [nested(depth, '[', ']'), `${nested(depth, '{"a":', '').slice(0, -1)}`]) {
      for (const body of [text, `{"a":${text}}`, `{"limit":${text}}`, `{"items":[{"content":${text}}]}`]) {
        const { status } = await world.post('/v1/items', body);
        t.is(status, 400, `${depth}: ${body.slice(0, 30)}`);
      }
    }
  }
  const large = `{"items":[${nested(800_000, '[', ']')}]}`;
  t.is((await world.post('/v1/items', large)).status, 400);
  t.is((await world.post('/v2/login', nested(20_000, '[', ']'), [])).status, 400);
  await world.rest();
});

const tenMegabytes = 'm'.repeat(10 * mebibyte);

test.serial('ten megabytes in any field are refused, taken or kept, and never a failure', async (t) => {
  for (const call of calls.filter(({ fields }) => fields.length > 0)) {
    const isSync = call.path.startsWith('/v1/items');
    for (const { name } of isSync ? call.fields : call.fields.slice(0, 1)) {
      const body = objectText({ ...goodFields(call), [name]: `"${tenMegabytes}"` });
      const { status } = await send(call, body);
      const allowed = isSync ? [200, 400] : [413];
      t.true(allowed.includes(status), `${status} to ${call.method} ${call.path} ${name}`);
    }
  }
  await world.rest();
});

test.serial(
  'ten megabytes in a field of an item are that item’s conflict, save in its content',
  async (t) => {
    for (const field of [
      'content',
      'enc_item_key',
      'uuid',
      'content_type',
      'created_at',
      'auth_hash',
      'unknown',
    ]) {
      const answer = await world.post('/v1/items', {
        api: '20240226',
        items: [newItem({ [field]: tenMegabytes })],
      });
      t.is(answer.status, 200, field);
      const { saved_items: saved, conflicts } = dataOf(answer) as Sync;
      t.is(saved.length + conflicts.length, 1, field);
      t.is(saved.length === 1, ['content', 'created_at', 'unknown'].includes(field), field);
    }
    await world.rest();
  },
);

/** Routes whose bodies may have megabytes. */
const largeBodies = [
  ...['/v1/items', '/v1/messages', '/v1/shared-vaults', '/v1/shares', '/v1/mcp-tokens', '/v1/caldav/todos'],
  ...['/v1/assistant/stream', '/v1/integrations/', '/v1/users/{userUuid}/settings'],
];

test.serial('a body over the limit is 413, declared or not', async (t) => {
  const large = Buffer.alloc(51 * mebibyte, ' ');
  const small = Buffer.alloc(65 * 1024, ' ');
  for (const call of calls) {
    const body = largeBodies.some((path) => call.path.startsWith(path)) ? large : small;
    t.is((await send(call, body)).status, 413, call.path);
  }
  await world.rest();
});

test.serial('arrays of any length are refused or answered in time', async (t) => {
  const many = (count: number, text: string) => `[${`${text},`.repeat(count - 1)}${text}]`;
  const cases: readonly [path: string, body: string, status: number][] = [
    ['/v1/items', `{"items":${many(1_000_000, 'null')}}`, 400],
    ['/v1/items', `{"items":${many(1_000_000, '{}')}}`, 400],
    ['/v1/items', `{"items":${many(20_001, '{}')}}`, 400],
    ['/v1/items', `{"items":${many(5_000, '{}')}}`, 200],
    ['/v1/items', `{"items":${many(2_000, JSON.stringify(newItem()))}}`, 200],
    ['/v1/items', `{"shared_vault_uuids":${many(100_000, '"a"')}}`, 400],
    ['/v1/items', `{"limit":${many(100_000, '1')}}`, 400],
    ['/v1/items', `{${many(100_000, `"${marker}":1`).slice(1, -1)}}`, 400],
    ['/v1/items/check-integrity', `{"integrityPayloads":${many(600_000, '{}')}}`, 400],
    ['/v1/items/check-integrity', `{"integrityPayloads":${many(100_000, '{"uuid":"a"}')}}`, 200],
    ['/v2/login', many(20_000, '1'), 400],
  ];
  for (const [path, body, status] of cases) {
    const what = `${path} ${body.slice(0, 60)} (${body.length})`;
    t.is((await world.post(path, body)).status, status, what);
  }
  await world.rest();
});

test.serial('a compressed body is 415', async (t) => {
  const headers = [...jsonType, ['Content-Encoding', 'gzip'] as const];
  t.is((await world.ask({ method: 'POST', target: '/v2/login', headers, body: gzipSync('{}') })).status, 415);
});

test.serial('no body at all is as good as an empty object, whatever it is said to be', async (t) => {
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'é', '']) {
    const headers = [['Content-Type', type] as const, ...bearer(world.sender)];
    t.is((await world.ask({ method: 'POST', target: '/v1/items', headers })).status, 200, type);
    t.is((await world.ask({ method: 'POST', target: '/v1/items', headers, body: '' })).status, 200, type);
    t.is((await world.ask({ method: 'POST', target: '/v2/login', headers, body: 'a=1' })).status, 400, type);
  }
  await world.rest();
});
