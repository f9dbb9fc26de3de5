/** Pages of other origins that make a browser send requests with the cookies of its user. */
import test from 'ava';
import { emptyRoute, gauge, openRaw, startGateway } from '../kit/gateway.ts';
import { startServer } from '../kit/server.ts';

const cookie = 'access_token_1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f=a';
/** Requests that a page can send without a preflight, and bodies that only look like JSON. */
const simpleTypes = [
  'text/plain',
  'text/plain; charset=application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=application/json',
  'application/jsonp',
  undefined,
];

interface Operation {
  readonly requestBody?: { readonly content: object };
  readonly security?: object;
}
interface Description {
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>;
}

const takesJson = (post: Operation | undefined): boolean =>
  post !== undefined && 'application/json' in (post.requestBody?.content ?? { 'application/json': {} });

test('no POST that takes JSON is done for a browser that was not asked first', async (t) => {
  const server = await startServer(t);
  const { paths } = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as Description;
  const operations = Object.entries(paths).filter(([, { post }]) => takesJson(post));
  const targets = operations.map(([path]) => path);
  t.true(targets.includes('/v1/login') && targets.length > 50);
  for (const [path, { post }] of operations) {
    const target = path.replace(/\{\w+\}/g, '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f');
    const answer = await fetch(`${server.url}${target}?email=a@b.test&password=guess`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'text/plain', origin: 'https://evil.test' },
      body: '{}',
    });
    // Without a bearer, which a page cannot add either, an endpoint with a session is refused earlier.
    const expected = post?.security === undefined ? [415] : [415, 401];
    t.true(expected.includes(answer.status), `${path}: ${answer.status}`);
  }
});

test('a page of another site cannot count guesses against the network of its visitors', async (t) => {
  const server = await startServer(t);
  const guess = (headers: Record<string, string>) =>
    fetch(`${server.url}/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...headers },
      body: JSON.stringify({ email: 'victim@example.org', password: 'guess', api: '20200115' }),
    }).then(({ status }) => status);
  for (const headers of [
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    for (let each = 0; each < 10; each += 1) t.is(await guess(headers), 415);
  }
  t.is(await guess({}), 401, 'a program that is no browser, and it is not locked out');
});

test('no image of a page makes its visitor guess a second factor', async (t) => {
  const server = await startServer(t, { accounts: { plainAttemptsMax: 3 } });
  const path = '/v1/login-params?email=victim@example.org&code_challenge=x&mfa_code=000000';
  const guess = (headers: Record<string, string>) =>
    fetch(`${server.url}${path}`, { headers }).then(({ status }) => status);
  for (const headers of [
    { cookie },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', cookie },
    { origin: 'https://evil.test' },
  ]) {
    for (let each = 0; each < 5; each += 1) t.is(await guess(headers), 415, JSON.stringify(headers));
  }
  const request = { cookie, origin: 'https://app.test', 'content-type': 'application/json' };
  t.not(await guess(request), 415, 'a page that has asked first');
  t.not(await guess({}), 423, 'a program that is no browser, and it is not locked out');
});

test('a JSON body with cookies has to be declared as JSON, and is taken in every spelling of that', async (t) => {
  let calls = 0;
  const handle = async () => {
    calls += 1;
    return { status: 204 };
  };
  const server = await startGateway(t, [
    emptyRoute('POST', '/v1/json', { handle }),
    emptyRoute('POST', '/v1/bytes', { handle, body: 'bytes' }),
  ]);
  const post = async (path: string, type: string | undefined, sent: string, body = '{}') => {
    const connection = await openRaw(t, server.port);
    const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
    const cookieLine = sent === '' ? '' : `Cookie: ${sent}\r\n`;
    connection.send(
      `POST ${path} HTTP/1.1\r\nHost: a\r\n${typeLine}${cookieLine}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await connection.received('\r\n\r\n');
    connection.socket.destroy();
    return Number(answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3));
  };
  for (const type of simpleTypes) {
    t.is(await post('/v1/json', type, cookie), 415, type);
    t.is(await post('/v1/json?email=a', type, cookie, ''), 415, `${type} without a body`);
  }
  t.is(calls, 0);
  for (const type of ['application/json', 'Application/JSON', 'application/json; charset=utf-8']) {
    t.is(await post('/v1/json', type, cookie), 204, type);
  }
  t.is(await post('/v1/json', 'text/plain', ''), 204);
  t.is(await post('/v1/bytes', 'application/octet-stream', cookie), 204);
  t.is(await gauge(server, 'scriptorium_http_requests_in_flight'), 0);
});
