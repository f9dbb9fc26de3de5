/**
 * The cost of relaying a model's answers: the first event and the rate of events, compared with reading the same
 * answer from its provider directly. It also measures the memory of answers in progress.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Account, register } from '../support/api-client.ts';
import { someAtOnce } from '../support/at-once.ts';
import { median } from '../support/figures.ts';
import { residentBytes } from '../support/machine.ts';
import type { LoadServer } from '../support/server.ts';

const rounds = 100;
const events = 50_000;
const streams = 500;
const streamsOfUser = 4;
/** Opened first, so that no measured answer pays for compiled code and pools. */
const warmUpStreams = 40;
const atOnce = 8;
const calmMs = 3_000;

/** Makes only `part` of these rounds, events and streams. */
export async function assistant(before: LoadServer, part = 1): Promise<Record<string, number>> {
  const upstream = await startUpstream();
  const settings = {
    ASSISTANT_OPENAI_BASE_URL: upstream.url,
    ASSISTANT_OPENAI_API_KEY: 'key',
    ASSISTANT_DEFAULT_MODEL: 'model',
    ASSISTANT_STREAMS_MAX: String(streams + warmUpStreams),
    RATE_LIMIT_PUBLIC: '0',
    RATE_LIMIT_SESSION: '0',
  };
  const server = await before.restart(settings);
  try {
    const ways = {
      direct: (what: string) => askUpstream(upstream.url, what),
      passedOn: await throughServer(server.url),
    };
    const first = { direct: [] as number[], passedOn: [] as number[] };
    for (let round = 0; round < Math.ceil(rounds * part); round += 1) {
      for (const way of ['direct', 'passedOn'] as const) {
        first[way].push((await measured(ways[way]('events 1'))).firstMs);
      }
    }
    const many = `events ${Math.ceil(events * part)}`;
    const rates = { direct: await rateOf(ways.direct, many), passedOn: await rateOf(ways.passedOn, many) };
    return {
      'first event, directly, ms': median(first.direct),
      'first event, passed on, ms': median(first.passedOn),
      'events/s, directly': rates.direct,
      'events/s, passed on': rates.passedOn,
      ...(await memoryOf(server, Math.ceil(streams * part))),
    };
  } finally {
    upstream.process.kill();
    await server.stop();
  }
}

async function startUpstream(): Promise<{ url: string; process: ChildProcess }> {
  const upstream = spawn(process.execPath, ['--import=tsx', 'benchmarks/support/model-upstream.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(upstream.stdout, 'data')) as [Buffer];
  return { url: `http://127.0.0.1:${String(port).trim()}`, process: upstream };
}

const bodyOf = (what: string) => JSON.stringify({ messages: [{ role: 'user', content: what }] });

const askUpstream = (url: string, what: string): Promise<Response> =>
  fetch(`${url}/chat/completions`, { method: 'POST', body: bodyOf(what) });

/** Each answer as another user, in rotation. */
async function throughServer(url: string): Promise<(what: string) => Promise<Response>> {
  const accounts = await someAtOnce(4, atOnce, () => register(url));
  let calls = 0;
  return (what) => {
    calls += 1;
    return stream(url, accounts[calls % accounts.length] as Account, what);
  };
}

const stream = (
  url: string,
  { accessToken }: Account,
  what: string,
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(`${url}/v1/assistant/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: bodyOf(what),
    ...(signal !== undefined && { signal }),
  });

/** Counts `data` only: a ping is no event. */
async function measured(pending: Promise<Response>) {
  const began = performance.now();
  const { status, body } = await pending;
  if (status !== 200) throw new Error(`an answer was refused: ${status}`);
  let firstMs = Number.NaN;
  let count = 0;
  const decoder = new TextDecoder('latin1');
  let rest = '';
  for await (const chunk of body ?? []) {
    const frames = (rest + decoder.decode(chunk)).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) if (frame.startsWith('data: ')) count += 1;
    if (count > 0 && Number.isNaN(firstMs)) firstMs = performance.now() - began;
  }
  return { firstMs, count, durationMs: performance.now() - began };
}

async function rateOf(way: (what: string) => Promise<Response>, many: string): Promise<number> {
  await measured(way(many));
  const { count, durationMs } = await measured(way(many));
  if (count < Number(many.split(' ')[1])) throw new Error(`${count} events came`);
  return (count * 1_000) / durationMs;
}

async function memoryOf({ url, pid }: LoadServer, count: number) {
  const accounts = await someAtOnce(Math.ceil((count + warmUpStreams) / streamsOfUser), atOnce, () =>
    register(url),
  );
  const leave = new AbortController();
  const open = (index: number) =>
    heldStream(url, accounts[Math.floor(index / streamsOfUser)] as Account, leave.signal);
  await someAtOnce(warmUpStreams, atOnce, open);
  await calmDown();
  const warm = residentBytes(pid);
  await someAtOnce(count, atOnce, (index) => open(warmUpStreams + index));
  await calmDown();
  const all = residentBytes(pid);
  leave.abort();
  return { 'answers being made': count, '… each, bytes': (all - warm) / count };
}

/** Resolves with its first event. */
async function heldStream(url: string, account: Account, signal: AbortSignal): Promise<void> {
  const { status, body } = await stream(url, account, 'hold', signal);
  if (status !== 200 || body === null) throw new Error(`an answer was refused: ${status}`);
  const reader = body.getReader();
  for (let text = ''; !text.includes('data: '); ) {
    const { done, value } = await reader.read();
    if (done) throw new Error('an answer has ended');
    text += Buffer.from(value).toString('latin1');
  }
}

const calmDown = () => new Promise((resolve) => setTimeout(resolve, calmMs));
