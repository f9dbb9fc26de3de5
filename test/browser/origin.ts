import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { resolve } = createRequire(import.meta.url);
const html = `<!doctype html><meta charset="utf-8"><title>A device</title>
<script src="/page/sncrypto-web.js"></script><script src="/page/snjs.js"></script>
<script src="/page/client.js"></script>`;

/** Where the pages of the devices come from. */
export interface Origin {
  /** `http://localhost:<port>`, without a slash at the end. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves the page with the client library on a free loopback port. With an `upstream`, everything else is passed
 * on to that server, so that page and server share one origin as they do behind a reverse proxy.
 */
export async function openOrigin(upstream?: string): Promise<Origin> {
  const files = await pageFiles();
  const server = createServer((incoming, outgoing) => {
    const file = files.get(incoming.url ?? '');
    if (file !== undefined) return outgoing.writeHead(200, { 'content-type': file.type }).end(file.body);
    if (upstream !== undefined) return forward(upstream, incoming, outgoing);
    return outgoing.writeHead(404).end();
  });
  const port = await listen(server);
  return { url: `http://localhost:${port}`, close: () => close(server) };
}

/** The two packages exactly as published, and our page script. */
async function pageFiles(): Promise<Map<string, { type: string; body: string | Buffer }>> {
  const type = 'text/javascript; charset=utf-8';
  const [crypto, library, client] = await Promise.all([
    readFile(resolve('@standardnotes/sncrypto-web/dist/sncrypto-web.js')),
    readFile(resolve('@standardnotes/snjs')),
    bundleClient(),
  ]);
  return new Map([
    ['/page', { type: 'text/html; charset=utf-8', body: html }],
    ['/page/sncrypto-web.js', { type, body: crypto }],
    ['/page/snjs.js', { type, body: library }],
    ['/page/client.js', { type, body: client }],
  ]);
}

async function bundleClient(): Promise<string> {
  const entry = fileURLToPath(new URL('./page/client.ts', import.meta.url));
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
  });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error('esbuild wrote no page script.');
  return file.text;
}

function forward(upstream: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const onward = request(
    new URL(incoming.url ?? '/', upstream),
    { method: incoming.method, headers: incoming.headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    },
  );
  onward.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
  incoming.pipe(onward);
}

function listen(server: Server): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}
