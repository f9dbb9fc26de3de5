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

/** The origin of the devices' pages. */
export interface Origin {
  /** `http://localhost:<port>`, without a slash at the end. */
  url: string;
  /**
   * Lets the server execute the next sync that brings items, and withholds its answer from the page. The page sees a
   * reset of the connection, or a reverse proxy's error. Resolves to the items of that sync and of the next.
   */
  loseNextSave(how: Loss): Promise<readonly [lost: SentItems, next: SentItems]>;
  /** From now on it passes everything on to this server. */
  leadTo(upstream: string): void;
  close(): Promise<void>;
}

export type Loss = 'reset' | 'bad gateway';
/** The ciphertexts of a sync by the uuids of their items. */
type SentItems = ReadonlyMap<string, string>;

/**
 * Serves the page with the client library on a free loopback port. With an `upstream`, it passes everything else on
 * to that server, so that page and server share one origin, as behind a reverse proxy.
 */
export async function openOrigin(upstream?: string): Promise<Origin> {
  const files = await pageFiles();
  const losses: Loses[] = [];
  let target = upstream;
  const server = createServer((incoming, outgoing) => {
    const file = files.get(incoming.url ?? '');
    if (file !== undefined) return outgoing.writeHead(200, { 'content-type': file.type }).end(file.body);
    if (target !== undefined) return forward(target, incoming, outgoing, losses);
    return outgoing.writeHead(404).end();
  });
  // A browser repeats a request by itself only on a connection that had served before.
  server.keepAliveTimeout = 0;
  const port = await listen(server);
  return {
    url: `http://localhost:${port}`,
    loseNextSave: (how) =>
      new Promise((resolve) => {
        losses.push({ how, lost: undefined, done: resolve });
      }),
    leadTo(other) {
      target = other;
    },
    close: () => close(server),
  };
}

/** The two packages exactly as published, and our page script. */
async function pageFiles(): Promise<Map<string, { type: string; body: string | Buffer }>> {
  const type = 'text/javascript; charset=utf-8';
  const [crypto, library, client, laneWorker] = await Promise.all([
    readFile(resolve('@standardnotes/sncrypto-web/dist/sncrypto-web.js')),
    readFile(resolve('@standardnotes/snjs')),
    bundled('main.ts'),
    bundled('lane-worker.ts'),
  ]);
  return new Map([
    ['/page', { type: 'text/html; charset=utf-8', body: html }],
    ['/page/sncrypto-web.js', { type, body: crypto }],
    ['/page/snjs.js', { type, body: library }],
    ['/page/client.js', { type, body: client }],
    ['/page/lane-worker.js', { type, body: laneWorker }],
  ]);
}

async function bundled(file: string): Promise<string> {
  const entry = fileURLToPath(new URL(`./page/${file}`, import.meta.url));
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
  });
  const [written] = result.outputFiles;
  if (written === undefined) throw new Error('esbuild wrote no page script.');
  return written.text;
}

interface Loses {
  readonly how: Loss;
  /** The sent items, once their answer was withheld. */
  lost: SentItems | undefined;
  readonly done: (sent: readonly [SentItems, SentItems]) => void;
}

function forward(
  upstream: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  losses: Loses[],
): void {
  let losing: Loses | undefined;
  const onward = request(
    new URL(incoming.url ?? '/', upstream),
    { method: incoming.method, headers: incoming.headers },
    (answer) => {
      if (losing !== undefined) {
        answer.resume().once('end', () => lose(outgoing, losing?.how));
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    },
  );
  onward.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
  if (losses.length === 0 || incoming.method !== 'POST' || incoming.url !== '/v1/items') {
    incoming.pipe(onward);
    return;
  }
  let body = '';
  incoming.setEncoding('utf8');
  incoming.on('data', (chunk) => {
    body += chunk;
  });
  incoming.on('end', () => {
    losing = nextLoss(losses, itemsIn(body));
    onward.end(body);
  });
}

/** The fate of the answer to this sync; undefined lets it pass. */
function nextLoss(losses: Loses[], sent: SentItems): Loses | undefined {
  const [loss] = losses;
  if (loss === undefined || sent.size === 0) return undefined;
  if (loss.lost !== undefined) {
    losses.shift();
    loss.done([loss.lost, sent]);
    return undefined;
  }
  loss.lost = sent;
  return loss;
}

function itemsIn(body: string): SentItems {
  const { items = [] } = JSON.parse(body) as { items?: { uuid: string; content?: string }[] };
  return new Map(items.map(({ uuid, content = '' }) => [uuid, content]));
}

function lose(outgoing: ServerResponse, how: Loss | undefined): void {
  if (how === 'reset') outgoing.socket?.resetAndDestroy();
  else outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
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
