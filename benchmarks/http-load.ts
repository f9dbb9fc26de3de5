/**
 * A small HTTP load generator on raw sockets: N keep-alive connections, each with one request in flight.
 * Without pipelining, batching flatters no rate, and a latency is what one client would have seen.
 *
 *   node --import=tsx benchmarks/http-load.ts [options] http://127.0.0.1:3000/healthcheck
 *     --connections 64      --duration 5 (seconds)    --warmup 1 (seconds)
 *     --method POST         --header 'Name: value' (repeatable)      --body '{"a":1}'
 *     --pid 1234            also prints the CPU time per request of that process (Linux)
 *
 * On a machine with few cores the generator is the bottleneck long before a fast server is. So compare servers by CPU time per
 * request, not by rate.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median, quantile } from './support/figures.ts';
import { cpuMs } from './support/machine.ts';

export interface LoadOptions {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  readonly warmupMs?: number;
  /** The bytes of the next request of this connection, complete with `Content-Length`. */
  readonly request: (connection: number) => Buffer;
  /** Called with each complete reply. The text is made only if this is set. */
  readonly onReply?: (connection: number, status: number, body: string) => void;
  /** A process whose CPU time is read before and after (Linux). */
  readonly pid?: number;
}

export interface LoadResult {
  readonly replies: number;
  readonly repliesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly statuses: Readonly<Record<number, number>>;
  /** Connections that broke; each was opened again. */
  readonly brokenConnections: number;
  /** NaN without `pid`. */
  readonly cpuMicrosPerReply: number;
}

/** The bytes of one request. `body` goes out as JSON unless a content type is among the headers. */
export function requestBytes(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Buffer {
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!names.has('content-type')) lines.push('Content-Type: application/json');
  if (body !== '' || method !== 'GET') lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

const headEnd = Buffer.from('\r\n\r\n');
const contentLengthPattern = /\r\ncontent-length: *(\d+)/i;

const chunkedPattern = /\r\ntransfer-encoding: *chunked/i;

/** The first reply in `bytes`, or undefined while it is incomplete. A chunked body keeps its chunk framing. */
export function parseReply(bytes: Buffer): { status: number; bodyStart: number; end: number } | undefined {
  const headLength = bytes.indexOf(headEnd);
  if (headLength < 0) return undefined;
  const head = bytes.toString('latin1', 0, headLength);
  const bodyStart = headLength + headEnd.length;
  const end = chunkedPattern.test(head)
    ? endOfChunks(bytes, bodyStart)
    : bodyStart + Number(contentLengthPattern.exec(head)?.[1] ?? 0);
  if (end === undefined || bytes.length < end) return undefined;
  return { status: Number(head.slice(9, 12)), bodyStart, end };
}

const lineEnd = Buffer.from('\r\n');

/** The index after the last chunk, which is empty. Undefined while that has not come. */
function endOfChunks(bytes: Buffer, start: number): number | undefined {
  for (let at = start; ; ) {
    const sizeEnd = bytes.indexOf(lineEnd, at);
    if (sizeEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, sizeEnd), 16);
    at = sizeEnd + lineEnd.length + size + lineEnd.length;
    if (size === 0) return at;
  }
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const statuses: Record<number, number> = {};
  const sockets = new Set<Socket>();
  let brokenConnections = 0;
  let measuring = false;
  let stopped = false;

  function open(connection: number): void {
    const socket = connect({ host: options.host, port: options.port, noDelay: true });
    sockets.add(socket);
    let pending: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(options.request(connection));
    };
    socket.on('connect', send);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      if (stopped) return;
      brokenConnections += 1;
      setTimeout(() => open(connection), 10);
    });
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const reply = parseReply(pending);
      if (reply === undefined) return;
      if (measuring) {
        latenciesMs.push(performance.now() - sentAt);
        statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
      }
      options.onReply?.(connection, reply.status, pending.toString('utf8', reply.bodyStart, reply.end));
      pending = pending.subarray(reply.end);
      if (!stopped) send();
    });
  }

  for (let connection = 0; connection < options.connections; connection++) open(connection);
  await pause(options.warmupMs ?? 0);
  const cpuBeforeMs = options.pid === undefined ? Number.NaN : cpuMs(options.pid);
  const startedAt = performance.now();
  measuring = true;
  await pause(options.durationMs);
  measuring = false;
  const elapsedMs = performance.now() - startedAt;
  const cpuAfterMs = options.pid === undefined ? Number.NaN : cpuMs(options.pid);
  stopped = true;
  for (const socket of sockets) socket.destroy();

  return {
    replies: latenciesMs.length,
    repliesPerSecond: (latenciesMs.length * 1_000) / elapsedMs,
    p50Ms: median(latenciesMs),
    p99Ms: quantile(latenciesMs, 0.99),
    maxMs: quantile(latenciesMs, 1),
    statuses,
    brokenConnections,
    cpuMicrosPerReply: ((cpuAfterMs - cpuBeforeMs) * 1_000) / latenciesMs.length,
  };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      connections: { type: 'string', default: '64' },
      duration: { type: 'string', default: '5' },
      warmup: { type: 'string', default: '1' },
      method: { type: 'string', default: 'GET' },
      header: { type: 'string', multiple: true, default: [] },
      body: { type: 'string', default: '' },
      pid: { type: 'string' },
    },
  });
  if (positionals[0] === undefined) throw new Error('which URL?');
  const url = new URL(positionals[0]);
  const headers = Object.fromEntries(
    values.header.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
  const bytes = requestBytes(values.method, url, headers, values.body);
  const result = await runLoad({
    host: url.hostname,
    port: Number(url.port || 80),
    connections: Number(values.connections),
    durationMs: Number(values.duration) * 1_000,
    warmupMs: Number(values.warmup) * 1_000,
    request: () => bytes,
    ...(values.pid === undefined ? {} : { pid: Number(values.pid) }),
  });
  console.log(JSON.stringify(result, null, 2));
}

if (import.meta.filename === process.argv[1]) await main();
