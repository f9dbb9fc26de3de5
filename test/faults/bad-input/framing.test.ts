/** Requests with malformed framing: cut off, dripped, mis-declared, or followed by garbage. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { forAll, holds } from './property.ts';
import { type ExchangeResult, type RawRequest, requestBytes } from './raw-http.ts';
import { bearer, dataOf, type Item, jsonType, marker, newItem, World } from './world.ts';

let world: World;
test.before(async () => {
  world = await World.open();
});
test.after.always(() => world.close());

function saving(item: Item): RawRequest {
  const body = JSON.stringify({ api: '20240226', items: [item] });
  return { method: 'POST', target: '/v1/items', headers: [...jsonType, ...bearer(world.sender)], body };
}

const has = async (uuid: string) => {
  const headers = bearer(world.sender);
  return (await world.ask({ method: 'GET', target: `/v1/items/${uuid}`, headers })).status === 200;
};

/** A client that has ended its side gets an answer or is dropped, but is never kept. */
const saysAll = { halfCloses: true };

test.serial('a request cut off at any byte saves nothing, however the client leaves', async (t) => {
  const leaving = fc.record({
    at: fc.nat(),
    pieces: fc.integer({ min: 1, max: 4 }),
    halfCloses: fc.boolean(),
  });
  const savesNothing = fc.asyncProperty(leaving, async ({ at, pieces, halfCloses }) => {
    const item = newItem();
    const bytes = requestBytes(saving(item));
    const cut = bytes.subarray(0, at % bytes.length);
    const { end, answers } = await world.raw(split(cut, pieces), {
      pauseMs: pieces > 1 ? 1 : 0,
      ...(halfCloses ? saysAll : { leavesAfterMs: 0 }),
    });
    // The library reads a request line that is cut in two places as one of another version.
    t.true(answers.every(({ status }) => status === 505));
    if (halfCloses) t.not(end, 'silent');
    t.false(await has(item.uuid));
  });
  await holds(savesNothing, 80);
  await world.rest();
});

test.serial('clients that leave while they are answered disturb nobody', async (t) => {
  const items = Array.from({ length: 20 }, () => newItem({ content: marker.repeat(10_000) }));
  t.is((await world.post('/v1/items', { api: '20240226', items })).status, 200);
  const whole = requestBytes({ ...saving(newItem()), body: '{"api":"20240226"}' });
  await forAll([0, 1, 2, 3, 5, 8, 13, 0, 1, 2, 3, 5, 8, 13], async (leavesAfterMs) => {
    await world.raw([whole], { answers: 0, leavesAfterMs });
    await world.raw([registering()], { answers: 0, leavesAfterMs: leavesAfterMs * 3 });
  });
  await world.rest();
});

/** Requests that wait for the hash of a password. */
function registering(): Buffer {
  const email = `${marker}-${randomUUID()}@bad.test`;
  const body = JSON.stringify({ api: '20200115', email, password: marker, pw_nonce: marker, version: '004' });
  return requestBytes({ method: 'POST', target: '/v1/users', headers: jsonType, body });
}

test.serial('a body in pieces of any size is one body', async (t) => {
  const isSaved = fc.asyncProperty(fc.integer({ min: 2, max: 40 }), fc.boolean(), async (pieces, chunked) => {
    const item = newItem();
    const request = saving(item);
    const bytes = chunked ? inChunks(request, pieces) : inPieces(request, pieces);
    const { answers } = await world.raw(bytes, { pauseMs: 1 });
    t.is(answers[0]?.status, 200);
    t.true(await has(item.uuid));
  });
  await holds(isSaved, 25);
  await world.rest();
});

const post = 'POST /v2/login HTTP/1.1\r\nHost: a\r\n';
const hidden = 'GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n';

/** Framings that two readers could understand in two ways, with a request hidden behind them. */
const ambiguous: readonly string[] = [
  `Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
  `Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n${hidden}`,
  `Content-Length: +2\r\n\r\n{}${hidden}`,
  `Content-Length: 0x2\r\n\r\n{}${hidden}`,
  `Content-Length: -2\r\n\r\n{}${hidden}`,
  `Content-Length: 2, 2\r\n\r\n{}${hidden}`,
  `Content-Length: 2.0\r\n\r\n{}${hidden}`,
  `Content-Length: two\r\n\r\n{}${hidden}`,
  `Content-Length: 18446744073709551618\r\n\r\n{}${hidden}`,
  `Content-Length: ${'9'.repeat(40)}\r\n\r\n{}${hidden}`,
  `Content-Length : 2\r\n\r\n{}${hidden}`,
  `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
  `Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n${hidden}`,
  `Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n${hidden}`,
  `Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n${hidden}`,
  `Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n${hidden}`,
  `Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n${hidden}`,
];

test.serial('a framing that can be read in two ways hides no second request', async (t) => {
  await forAll(ambiguous, async (rest) => {
    const outcome = await world.raw([Buffer.from(post + rest)], { ...saysAll, answers: 2 });
    t.not(outcome.end, 'silent', JSON.stringify(rest));
    t.false(outcome.bytes.includes('captchaUIUrl'), JSON.stringify(rest));
    t.true(refusesOnly(outcome), JSON.stringify(rest));
  });
  await world.rest();
});

const notHttp: readonly string[] = [
  'hello\r\n\r\n',
  '\0'.repeat(100),
  '\r\n'.repeat(50),
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET /v1/meta\r\n\r\n',
  'GET /v1/meta HTTP/1.0\r\nHost: a\r\n\r\n',
  'GET /v1/meta HTTP/9.9\r\nHost: a\r\n\r\n',
  'GET /v1/meta HTTP/1.1\nHost: a\n\n',
  'GET  /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /v1/meta HTTP/1.1\r\n\r\n',
  'GET v1/meta HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET http://other.test/v1/meta HTTP/1.1\r\nHost: a\r\n\r\n',
  'CONNECT other.test:443 HTTP/1.1\r\nHost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  `${'x'.repeat(100_000)}`,
];

test.serial('bytes that are no HTTP are refused or closed upon', async (t) => {
  await forAll(notHttp, async (text) => {
    const outcome = await world.raw([Buffer.from(text, 'latin1')], saysAll);
    t.not(outcome.end, 'silent', JSON.stringify(text.slice(0, 60)));
    t.true(refusesOnly(outcome), JSON.stringify(text.slice(0, 60)));
  });
  const anyBytes = fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
    const outcome = await world.raw([Buffer.from(bytes)], saysAll);
    t.not(outcome.end, 'silent');
    t.true(refusesOnly(outcome));
  });
  await holds(anyBytes, 40);
  await world.rest();
});

test.serial('garbage behind a good request spoils no answer but its own', async (t) => {
  const good = requestBytes({ method: 'GET', target: '/healthcheck' });
  await forAll(notHttp, async (text) => {
    const outcome = await world.raw([good, Buffer.from(text, 'latin1')], { ...saysAll, answers: 3 });
    const [first, ...others] = outcome.answers;
    // The garbage may also end the connection before the first answer.
    if (first !== undefined) t.true([200, 400, 431, 505].includes(first.status), String(first.status));
    t.true(refusesOnly({ ...outcome, answers: others }), JSON.stringify(text.slice(0, 60)));
  });
  await world.rest();
});

test.serial('pipelined requests are answered each, or the connection is closed', async (t) => {
  const get = requestBytes({ method: 'GET', target: '/v1/meta' });
  const bad = requestBytes({ method: 'POST', target: '/v2/login', headers: jsonType, body: '{' });
  const { answers, end } = await world.raw([Buffer.concat([bad, get, bad, get])], { answers: 4 });
  t.not(end, 'silent');
  const expected = [400, 200, 400, 200];
  t.deepEqual(
    answers.map(({ status }) => status),
    expected.slice(0, answers.length),
  );
  await world.rest();
});

test.serial('replies that nobody reads are not piled up', async (t) => {
  const requests = 4_000;
  const get = requestBytes({ method: 'GET', target: '/v1/openapi.json' });
  const many = Buffer.concat(Array.from({ length: requests }, () => get));
  const { answers, end } = await world.raw([many], { answers: 0, readsAfterMs: 1_000 });
  t.is(end, 'closed');
  t.true(answers.length < requests / 4, `${answers.length} of ${requests} were kept for their reader`);
  await world.rest();
});

test.serial('a declared length that is not kept saves nothing', async (t) => {
  const item = newItem();
  const request = saving(item);
  const length = Buffer.byteLength(String(request.body));
  for (const declared of [length - 1, length - 10, 1]) {
    const headers = [...(request.headers ?? []), ['Content-Length', String(declared)] as const];
    const { answers } = await world.raw([requestBytes({ ...request, headers })]);
    t.is(answers[0]?.status, 400);
  }
  for (const declared of [length + 1, 1_000_000, 40_000_000]) {
    const headers = [...(request.headers ?? []), ['Content-Length', String(declared)] as const];
    const outcome = await world.raw([requestBytes({ ...request, headers })], saysAll);
    t.is(outcome.answers.length, 0);
    t.is(outcome.end, 'closed');
  }
  t.false(await has(item.uuid));
  await world.rest();
});

/** Long enough to outlive any time-out that restarts with each byte. */
const dripEveryMs = 250;

test.serial('clients that drip their heads or bodies delay nobody, and get what they ask for', async (t) => {
  const item = newItem();
  const bytes = requestBytes({ ...saving(item), headers: bearer(world.sender) });
  const bodyStart = bytes.indexOf('\r\n\r\n') + 4;
  const dripping = [
    world.raw([bytes.subarray(0, bodyStart), ...split(bytes.subarray(bodyStart), 12)], {
      pauseMs: dripEveryMs,
    }),
    world.raw(inPieces(saving(item), 12), { pauseMs: dripEveryMs }),
    world.raw(inChunks(saving(item), 12), { pauseMs: dripEveryMs }),
  ];
  const abandoned = Array.from({ length: 100 }, (_, n) =>
    world.raw(split(bytes.subarray(0, bodyStart - 1 + (n % 20)), 4), { pauseMs: 100, leavesAfterMs: 2_000 }),
  );
  const first = Promise.race(dripping).then(() => 'a dripping one');
  const other = world.ask({ method: 'GET', target: '/v1/meta' }).then(() => 'another');
  t.is(await Promise.race([first, other]), 'another');
  for (const { answers } of await Promise.all(dripping)) {
    const [answer] = answers;
    t.is(answer?.status, 200);
    if (answer !== undefined) t.true('sync_token' in (dataOf(answer) as object));
  }
  await Promise.all(abandoned);
  await world.rest();
});

test.serial('a client that says nothing more, or next to nothing, is closed upon', async (t) => {
  const bytes = requestBytes(saving(newItem()));
  const silent = [0, 10, bytes.indexOf('\r\n\r\n') + 4, bytes.length - 1].map((length) =>
    world.raw(length === 0 ? [] : [bytes.subarray(0, length)]),
  );
  const manyBytes = Array.from({ length: 300 }, () => Buffer.from('x'));
  const slow = ['GET /v1/meta HTTP/1.1\r\nX: ', `${post}Content-Length: 300\r\n\r\n`].map((start) =>
    world.raw([Buffer.from(start), ...manyBytes], { pauseMs: 500 }),
  );
  for (const { end, answers } of await Promise.all([...silent, ...slow])) {
    t.is(answers.length, 0);
    t.is(end, 'closed');
  }
  await world.rest();
});

/** Bytes in about this many pieces. */
function split(bytes: Buffer, pieces: number): Buffer[] {
  const length = Math.max(1, Math.ceil(bytes.length / pieces));
  const count = Math.ceil(bytes.length / length);
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * length, (n + 1) * length));
}

/** The request line whole, as the library requires, and the rest in pieces. */
function inPieces(request: RawRequest, pieces: number): Buffer[] {
  const bytes = requestBytes(request);
  const lineEnd = bytes.indexOf('\r\n') + 2;
  return [bytes.subarray(0, lineEnd), ...split(bytes.subarray(lineEnd), pieces)];
}

/** The same request with its body in chunks. */
function inChunks({ body = '', headers = [], ...request }: RawRequest, pieces: number): Buffer[] {
  const head = requestBytes({ ...request, headers: [...headers, ['Transfer-Encoding', 'chunked']] });
  const chunks = split(Buffer.from(body), pieces).map((piece) =>
    Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
  );
  return [head, ...chunks, Buffer.from('0\r\n\r\n')];
}

/** The first answer may be to the part that was understood; no request is ever granted. */
function refusesOnly({ answers }: Pick<ExchangeResult, 'answers'>): boolean {
  return answers.every(({ status }) => (status >= 400 && status < 500) || status === 505);
}
