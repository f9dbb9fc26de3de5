/** Requests hidden in the bodies of others, which a proxy and this server might parse differently. */
import test from 'ava';
import { emptyRoute, gauge, openRaw, startGateway } from '../kit/gateway.ts';

const hidden = 'GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n';

/** The part between the head's first line and its end, and the bytes after it. */
const ambiguous: readonly (readonly [lines: string, body: string])[] = [
  [`Content-Length: 2\r\nContent-Length: ${2 + hidden.length}`, '{}'],
  [`Content-Length: ${2 + hidden.length}\r\nContent-Length: 2`, '{}'],
  ['Content-Length:\r\nContent-Length: 2', '{}'],
  ['Content-Length: 0\r\nContent-Length: 2', '{}'],
  ['Transfer-Encoding: xchunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked, identity', '2\r\n{}\r\n0\r\n\r\n'],
  ['Transfer-Encoding: gzip, chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['Transfer-Encoding: identity', '2\r\n{}\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '2\r\n{}\r\n0\r\n\r\n'],
  // Hides from the server the line that a proxy has added.
  ['X-Forwarded-For:\r\nX-Forwarded-For: 203.0.113.7\r\nContent-Length: 2', '{}'],
];

const chunkedUpgrade = ['Transfer-Encoding: chunked', '0\r\n\r\n'] as const;
const inChunks = (trailer: string) => `Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${trailer}\r\n\r\n`;
/** Valid fields that the library reads as the first lines of requests. */
const trailers = ['a:GET /v1/hidden HTTP/1.1', 'X: /v1/hidden HTTP/1.1\r\nHost: b', 'X: y', ''];

test('a reply to a body in chunks ends the use of its connection, as a trailer looks like another request', async (t) => {
  const answers = ['POST /v1/open', 'GET /v1/open', 'OPTIONS /v1/open', 'POST /v1/nowhere', 'POST /v1/long'];
  const stream = {
    async *open() {
      yield Buffer.from('in ');
      yield Buffer.from('pieces');
    },
  };
  const server = await startGateway(t, [
    emptyRoute('POST', '/v1/open'),
    emptyRoute('GET', '/v1/open'),
    emptyRoute('POST', '/v1/long', { handle: async () => ({ status: 200, stream }) }),
    emptyRoute('GET', '/v1/hidden'),
  ]);
  for (const target of answers) {
    for (const trailer of trailers) {
      const connection = await openRaw(t, server.port);
      connection.send(`${target} HTTP/1.1\r\nHost: a\r\n${inChunks(trailer)}`);
      const [head = ''] = (await connection.received('\r\n\r\n')).split('\r\n\r\n');
      t.regex(head, /^connection: close$/im, `${target} ${trailer}: ${head}`);
      connection.socket.destroy();
    }
  }
});

const targets = ['POST /v1/open', 'GET /v1/hidden', 'POST /v1/nowhere', 'OPTIONS /v1/open', 'GET /sockets'];

for (const target of targets) {
  test(`${target}: a framing that can be read in two ways ends the connection, and reaches no handler`, async (t) => {
    let calls = 0;
    const handle = async () => {
      calls += 1;
      return { status: 204 };
    };
    const server = await startGateway(t, [
      emptyRoute('POST', '/v1/open', { handle }),
      emptyRoute('GET', '/v1/hidden', { handle }),
    ]);
    const refused = target === 'GET /sockets' ? [...ambiguous, chunkedUpgrade] : ambiguous;
    for (const [lines, body] of refused) {
      const connection = await openRaw(t, server.port);
      const upgrade =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
      connection.send(
        `${target} HTTP/1.1\r\nHost: a\r\n${target === 'GET /sockets' ? upgrade : ''}${lines}\r\n\r\n${body}${hidden}`,
      );
      t.is(await connection.ended, '', lines);
    }
    t.is(calls, 0);
    t.is(await gauge(server, 'scriptorium_http_ambiguous_requests'), refused.length);
    t.is(await gauge(server, 'scriptorium_http_requests_in_flight'), 0);
  });
}

test('no reply names the server software', async (t) => {
  const server = await startGateway(t, [emptyRoute('GET', '/v1/open')]);
  for (const path of ['/v1/open', '/v1/nowhere', '/sockets']) {
    const { headers } = await fetch(server.url + path);
    t.deepEqual(
      [...headers.keys()].filter((name) => /server|powered|uwebsockets/i.test(name)),
      [],
      path,
    );
  }
});
