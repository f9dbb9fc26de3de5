/**
 * A fake of the three messenger providers, built from their documentation, because tests cannot reach them. It
 * listens on this machine, and `outbound` redirects connections to their fixed hosts to it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { OutboundHttp } from '../../actors/outbound/http.ts';

interface Received {
  readonly host: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Behaviour = (response: ServerResponse) => void;

/** Their answers, and the fate of connections. */
export const behaviours = {
  'telegram takes it': answering(200, { ok: true, result: { message_id: 7 } }),
  'graph takes it': answering(200, { messaging_product: 'whatsapp', messages: [{ id: 'wamid.1' }] }),
  'twilio takes it': answering(201, { sid: 'SM1', status: 'queued' }),
  'chat not found': answering(400, {
    ok: false,
    error_code: 400,
    description: 'Bad Request: chat not found',
  }),
  unauthorized: answering(401, { ok: false, error_code: 401, description: 'Unauthorized' }),
  forbidden: answering(403, {
    ok: false,
    error_code: 403,
    description: 'Forbidden: bot was blocked by the user',
  }),
  'no such bot': answering(404, { ok: false, error_code: 404, description: 'Not Found' }),
  'too many': answering(429, { ok: false, error_code: 429, parameters: { retry_after: 120 } }),
  'too many, by a header': answering(429, {}, { 'retry-after': '90' }),
  'too many for a year': answering(429, {}, { 'retry-after': '31536000' }),
  'too many, for nonsense': answering(429, { parameters: { retry_after: 'soon' } }),
  redirect: answering(302, {}, { location: 'https://elsewhere.test/' }),
  'internal error': answering(500, { secret: 'words of the provider' }),
  unavailable: answering(503, {}),
  'bad gateway': answering(502, {}),
  'gateway time-out': answering(504, {}),
  hang: () => {},
  cut: (response) => response.socket?.destroy(),
  'cut in the answer': (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{');
    setImmediate(() => response.socket?.destroy());
  },
  oversized: (response) => response.writeHead(200).end(Buffer.alloc(1_000_000)),
} satisfies Record<string, Behaviour>;

function answering(status: number, body: object, headers: Record<string, string> = {}): Behaviour {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export async function startMessengerServer(t: ExecutionContext) {
  const received: Received[] = [];
  const state = { behaviour: behaviours['telegram takes it'] as Behaviour };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const host = String(request.headers['x-meant-for']);
    received.push({ host, path: request.url ?? '', headers: request.headers, body });
    state.behaviour(response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    received,
    behave: (as: keyof typeof behaviours) => {
      state.behaviour = behaviours[as];
    },
    outbound: (http: OutboundHttp): OutboundHttp => ({
      send({ url, headers, ...request }) {
        const { host, pathname, search } = new URL(url);
        const here = `http://127.0.0.1:${port}${pathname}${search}`;
        return http.send({ ...request, url: here, headers: { ...headers, 'x-meant-for': host } });
      },
    }),
  };
}
