/**
 * Opening public shares over HTTP: how many openers of a one-time share get it, and whether unknown ids activate
 * actors. It also measures the reads per second and their memory.
 *
 * npm run build && node --import=tsx benchmarks/public-shares.ts [--openers 1000] [--seconds 10] [--guesses 20000]
 */
import { randomUUID } from 'node:crypto';
import { requestBytes, runLoad } from './http-load.ts';
import { type Account, ask, register } from './support/api-client.ts';
import { printFigures } from './support/figures.ts';
import { peakBytes } from './support/machine.ts';
import { numberOptions } from './support/options.ts';
import { startBuiltServer } from './support/server.ts';

const options = numberOptions({ openers: 1_000, seconds: 10, guesses: 20_000 });
const readers = 16;
const quietMs = 3_000;
const sizes = { '1 KB': 1_024, '5 MiB': 5 * 1_024 * 1_024 };

const server = await startBuiltServer();
try {
  const account = await register(server.url);
  await openOnce(account);
  for (const [name, bytes] of Object.entries(sizes)) await read(account, name, bytes);
  await guess();
} finally {
  await server.stop();
}

async function share(account: Account, payloadBytes: number, more: object = {}): Promise<string> {
  const body = { type: 'note', encryptedPayload: 'x'.repeat(payloadBytes), ...more };
  const { shareId } = (await ask(server.url, 'POST', '/v1/shares', account, body)) as { shareId: string };
  return shareId;
}

/** Its status; 0 if the answer was cut. */
async function open(shareId: string): Promise<number> {
  try {
    const answer = await fetch(`${server.url}/v1/shares/${shareId}`);
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

async function openOnce(account: Account): Promise<void> {
  const shareId = await share(account, 1_024, { oneTimeView: true });
  const openers = Array.from({ length: options.openers }, () => open(shareId));
  const statuses = await Promise.all(openers);
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  printFigures(`answers to ${openers.length} openers of a one-time share, by status`, counts);
}

async function read(account: Account, name: string, bytes: number): Promise<void> {
  const shareId = await share(account, bytes);
  const untilMs = performance.now() + options.seconds * 1_000;
  let [reads, cut, putOff] = [0, 0, 0];
  const reader = async () => {
    while (performance.now() < untilMs) {
      const status = await open(shareId);
      if (status === 200) reads += 1;
      else if (status === 0) cut += 1;
      else if (status === 503) putOff += 1;
      else throw new Error(`a share was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: readers }, reader));
  printFigures(`${readers} readers of a share of ${name}`, {
    'reads a second': reads / options.seconds,
    'answers that were cut': cut,
    'told to come again': putOff,
    'most memory of the server so far (MiB)': peakBytes(server.pid) / 1_048_576,
  });
}

async function guess(): Promise<void> {
  let guesses = 0;
  const guessAll = async () => {
    while (guesses < options.guesses) guesses += await someGuesses();
  };
  // Earlier requests and the server's own timers activate actors too, whether anybody guesses or not.
  await quiet();
  const during = await activationsDuring(guessAll);
  const atRest = await activationsDuring(() => new Promise((over) => setTimeout(over, during.tookMs)));
  printFigures(`${guesses} ids that lead nowhere`, {
    'answers a second': (guesses * 1_000) / during.tookMs,
    'activations meanwhile': during.activations,
    'activations in as long without them': atRest.activations,
  });
}

async function someGuesses(): Promise<number> {
  const { hostname, port } = new URL(server.url);
  const { replies, statuses } = await runLoad({
    host: hostname,
    port: Number(port),
    connections: readers,
    warmupMs: 0,
    durationMs: 2_000,
    request: () => requestBytes('GET', new URL(`/v1/shares/${randomUUID()}`, server.url)),
  });
  if (statuses[404] !== replies) throw new Error(`guesses were answered ${JSON.stringify(statuses)}`);
  return replies;
}

/** Resolves once no actor has been activated for a moment. */
async function quiet(): Promise<void> {
  const moment = () => new Promise((over) => setTimeout(over, quietMs));
  for (let tries = 0; tries < 20; tries += 1) {
    if ((await activationsDuring(moment)).activations === 0) return;
  }
}

async function activationsDuring(work: () => Promise<unknown>) {
  const before = await activations();
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  return { tookMs, activations: (await activations()) - before };
}

async function activations(): Promise<number> {
  const text = await (await fetch(server.metricsUrl)).text();
  const counts = [...text.matchAll(/^scriptorium_activations_total\{.*\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  if (counts.length === 0) throw new Error('the metrics do not count activations');
  return counts.reduce((sum, count) => sum + count, 0);
}
