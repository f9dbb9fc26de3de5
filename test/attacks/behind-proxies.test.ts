/**
 * The reverse proxies of the guide share their connections to the server among all users. So whatever one user sends,
 * the saves of others on the same connections must succeed.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { Device } from '../kit/device.ts';
import { openRaw } from '../kit/gateway.ts';
import { note } from '../kit/items.ts';
import { dialLane, enterLane, run } from '../kit/lane.ts';
import { reverseProxies, startReverseProxy } from '../kit/reverse-proxies.ts';
import { startServer } from '../kit/server.ts';
import { isRefused } from '../kit/socket-client.ts';

const saves = 120;
const savesAtOnce = 4;
/** The number of each disturbing request. */
const rounds = 5;
const limitMs = 60_000;

interface Proxied {
  readonly url: string;
  readonly port: number;
}

const json = { 'content-type': 'application/json' };
const newNote = () => note({ uuid: crypto.randomUUID() });
const savingBody = (item: object = newNote()) => JSON.stringify({ api: '20240226', items: [item] });
const tooLargeChunk = `${(70_000).toString(16)}\r\n${' '.repeat(70_000)}\r\n`;
const head = (port: number, path: string, lines: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${lines}\r\n\r\n`;

/** Each resolves when it is over, to the status of its answer, or to 0 for none. */
const disturbing: readonly {
  readonly what: string;
  readonly status: number;
  readonly send: (t: ExecutionContext, proxied: Proxied, device: Device) => Promise<number>;
}[] = [
  {
    what: 'a HEAD',
    status: 200,
    send: async (_t, { url }) => (await fetch(`${url}/v1/meta`, { method: 'HEAD' })).status,
  },
  {
    what: 'a HEAD that is refused',
    status: 404,
    send: async (_t, { url }) => (await fetch(`${url}/v1/nowhere`, { method: 'HEAD' })).status,
  },
  {
    what: 'a body that is refused in its middle',
    status: 413,
    send: async (t, { port }) => {
      const connection = await openRaw(t, port);
      const part = head(port, '/v2/login', 'Transfer-Encoding: chunked') + tooLargeChunk;
      // Caddy gives no answer before it has read 256 KB of the rest, or all of it.
      connection.send(`${part}${tooLargeChunk.repeat(7)}0\r\n\r\n`);
      const answer = await connection.received('\r\n\r\n');
      connection.socket.destroy();
      return statusesOf(answer)[0] ?? 0;
    },
  },
  {
    what: 'a body that is aborted',
    status: 0,
    send: async (t, { port }, { account }) => {
      const connection = await openRaw(t, port);
      const lines = `Authorization: Bearer ${account.access}\r\nContent-Length: 200000`;
      const part = head(port, '/v1/items', lines) + ' '.repeat(100_000);
      await new Promise((resolve) => connection.socket.write(part, resolve));
      connection.socket.destroy();
      await connection.ended;
      return 0;
    },
  },
  {
    what: 'a save that waits for 100-continue',
    status: 200,
    send: (_t, { url }, { account }) =>
      sendAfterContinue(`${url}/v1/items`, savingBody(), { authorization: `Bearer ${account.access}` }),
  },
  {
    what: 'requests in one segment',
    status: 404,
    send: async (t, { port }) => {
      const connection = await openRaw(t, port);
      const bare = (request: string, more = '') =>
        `${request} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${more}\r\n`;
      const last = bare('GET /v1/nowhere', 'Connection: close\r\n');
      connection.send(bare('HEAD /v1/meta') + bare('GET /v1/meta') + bare('HEAD /v1/nowhere') + last);
      const statuses = statusesOf(await connection.ended);
      t.deepEqual(statuses, [200, 200, 404, 404]);
      return statuses.at(-1) ?? 0;
    },
  },
  {
    what: 'a request without a session',
    status: 401,
    send: async (_t, { url }) =>
      (await fetch(`${url}/v1/items`, { method: 'POST', headers: json, body: savingBody() })).status,
  },
];

for (const [name, proxy] of Object.entries(reverseProxies)) {
  test(`behind ${name}, every save succeeds beside requests that are refused, aborted or without a body`, async (t) => {
    t.timeout(limitMs);
    const server = await startServer(t);
    const { account } = await server.device();
    const proxied = await startReverseProxy(t, proxy, server.port);
    const device = new Device(proxied, account);

    const disturb = async (): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        for (const { what, status, send } of disturbing) t.is(await send(t, proxied, device), status, what);
      }
    };
    const save = async (): Promise<void> => {
      for (let count = 0; count < saves / savesAtOnce; count += 1) {
        const answer = await device.send({ items: [newNote()] });
        t.is(answer.status, 200, answer.text);
        t.is(answer.body.saved_items.length, 1);
      }
    };
    await Promise.all([disturb(), ...Array.from({ length: savesAtOnce }, save)]);
  });
}

/** The host of a page that each of them serves. nginx passes the host without a port, and the test has no port 443. */
const ownOrigins: Readonly<Record<string, (proxied: Proxied) => string>> = {
  nginx: () => 'http://127.0.0.1',
  Caddy: ({ url }) => url,
  HAProxy: ({ port }) => `https://127.0.0.1:${port}`,
};

for (const [name, proxy] of Object.entries(reverseProxies)) {
  test(`behind ${name}, the sync lane opens for its own pages and for no others`, async (t) => {
    t.timeout(limitMs);
    const server = await startServer(t);
    const { account } = await server.device();
    const proxied = await startReverseProxy(t, proxy, server.port);
    const device = new Device(proxied, account);
    const origin = ownOrigins[name]?.(proxied) ?? '';
    const lane = await enterLane(t, device, proxied, { headers: { origin } });
    const saved = await run(lane, 'command-1', { api: '20240226', items: [newNote()] });
    t.is(saved.payload.status, 'COMMITTED');
    const foreign = await dialLane(t, proxied, { headers: { origin: 'https://elsewhere.example' } });
    t.true(isRefused(foreign) && foreign.status === 403);
  });
}

test('requests in one segment are answered each, in their order, and what follows a refused body is not carried out', async (t) => {
  const { port, ...server } = await startServer(t);
  const device = await server.device();
  const saving = (item: object) => {
    const body = savingBody(item);
    const lines = `Authorization: Bearer ${device.account.access}\r\nContent-Length: ${body.length}`;
    return head(port, '/v1/items', lines) + body;
  };
  const notes = [newNote(), newNote()];
  const bare = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const notJson = `${head(port, '/v2/login', 'Content-Length: 1')}{`;
  const meta = bare('GET', '/v1/meta');
  const answered = await openRaw(t, port);
  answered.send(
    [meta, ...notes.map(saving), notJson, bare('HEAD', '/v1/meta'), meta, bare('GET', '/v1/nowhere')].join(
      '',
    ),
  );
  const answers = await answered.received('HTTP/1.1 404 ');
  t.deepEqual(statusesOf(answers), [200, 200, 200, 400, 200, 200, 404]);
  for (const { uuid } of notes) t.is((await device.getItem(String(uuid))).status, 200);

  const refused = await openRaw(t, port);
  const tooLarge = `${head(port, '/v2/login', 'Transfer-Encoding: chunked')}${tooLargeChunk}0\r\n\r\n`;
  const behind = newNote();
  refused.send(tooLarge + saving(behind));
  // The rest of the body may end the connection before the refusal is sent.
  t.true(['', '413'].includes(statusesOf(await refused.ended).join()));
  t.is((await device.getItem(String(behind.uuid))).status, 404);
});

const statusesOf = (answers: string): readonly number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

async function sendAfterContinue(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const sent = request(url, {
    method: 'POST',
    headers: { ...json, ...headers, expect: '100-continue', 'content-length': body.length },
  });
  sent.once('continue', () => sent.end(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  await textOf(response);
  return response.statusCode ?? 0;
}
