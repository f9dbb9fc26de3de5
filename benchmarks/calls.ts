/**
 * Calls between two processes over the NATS transport. They are compared with raw NATS request and reply between the same two, and
 * with a call within one process. All have the same payload and are in one run.
 *
 * node --import=tsx benchmarks/calls.ts [--seconds 3] [--callers 64] [--bytes 256] [--runs 3]
 *
 * Raw: the library's own request, and a subscription that echoes it. Ours: an ask with the same payload, and a
 * handler that echoes it, with shard, frame, deadline, call id and all their checks. The two take turns, because the
 * machine's speed varies.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connect } from '@nats-io/transport-node';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/ports.ts';
import { systemRandom } from '../runtime/random.ts';
import { InProcessTransport } from '../runtime/transport/in-process.ts';
import { noTransportMetrics } from '../runtime/transport/nats/metrics.ts';
import { type NatsTransport, openNatsTransport } from '../runtime/transport/nats/nats-transport.ts';
import type { AskCall, TransportHandler } from '../runtime/transport/transport.ts';
import { startNatsServer } from '../test/kit/nats-server.ts';
import { median, quantile } from './support/figures.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    callers: { type: 'string', default: '64' },
    bytes: { type: 'string', default: '256' },
    runs: { type: 'string', default: '3' },
    /** This process answers the calls of its parent over the broker at this URL. */
    answer: { type: 'string' },
  },
});
const callers = Number(values.callers);
const shardCount = 64;
const rawSubject = 'raw.echo';

const open = (url: string): Promise<NatsTransport> =>
  openNatsTransport({
    access: { servers: [url] },
    clusterName: 'bench',
    databaseId: 'bench',
    incarnation: systemRandom.uuid(),
    shardCount,
    signingKey: Buffer.alloc(32, 1),
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    metrics: noTransportMetrics,
  });

const echo: TransportHandler = {
  ask: async (call) => call.request,
  askFromRemote: async (call) => call.request,
  epochOf: () => 1,
  wake() {},
  hinted() {},
};

if (values.answer === undefined) await ask();
else await answer(values.answer);

async function answer(url: string): Promise<void> {
  const transport = await open(url);
  transport.serve(echo);
  await transport.route(Array.from({ length: shardCount }, (_, shard) => shard));
  const raw = await connect({ servers: url });
  raw.subscribe(rawSubject, { callback: (_, message) => void message.respond(message.data) });
  await raw.flush();
  process.send?.('ready');
}

async function ask(): Promise<void> {
  const server = await startNatsServer({ jetStream: false });
  const other = await startOther(server.url);
  const transport = await open(server.url);
  const raw = await connect({ servers: server.url });
  const payload = Buffer.alloc(Number(values.bytes), 'x');
  const local = new InProcessTransport();
  local.serve(echo);
  const request = { payload };
  const call = (): AskCall => ({
    address: { kind: 'user', id: systemRandom.uuid() },
    command: 'echo',
    request,
    callId: systemRandom.uuid(),
    deadlineMs: systemClock.monotonicMs() + 25_000,
  });
  const ways = {
    'within the process': () => local.ask(call()),
    'raw NATS request and reply': () => raw.request(rawSubject, payload, { timeout: 25_000 }),
    'over the NATS transport': () => transport.ask(call()),
  };
  const results = new Map(Object.keys(ways).map((name) => [name, [] as Figures[]]));
  for (const work of Object.values(ways)) await measure(work, 1);
  for (let run = 0; run < Number(values.runs); run += 1) {
    for (const [name, work] of Object.entries(ways)) {
      results.get(name)?.push(await measure(work, Number(values.seconds)));
    }
  }
  table(results);
  await Promise.all([transport.close(1_000), raw.close()]);
  other.kill();
  await server.stop();
}

async function startOther(url: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['--answer', url]);
  await new Promise((resolve) => child.once('message', resolve));
  return child;
}

interface Figures {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

async function measure(work: () => Promise<unknown>, seconds: number): Promise<Figures> {
  const latencies: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let fromMs = performance.now(); fromMs < endMs; ) {
        await work();
        const nowMs = performance.now();
        latencies.push(nowMs - fromMs);
        fromMs = nowMs;
      }
    }),
  );
  const rate = latencies.length / ((performance.now() - startMs) / 1_000);
  return { rate, p50: median(latencies), p99: quantile(latencies, 0.99) };
}

function table(results: ReadonlyMap<string, readonly Figures[]>): void {
  const raw = results.get('raw NATS request and reply') ?? [];
  console.log(`${callers} callers, ${values.bytes} bytes, medians of ${values.runs} runs`);
  for (const [name, runs] of results) {
    const figure = (of: keyof Figures) => median(runs.map((run) => run[of]));
    const ratio = median(runs.map((run, index) => run.rate / (raw[index]?.rate ?? Number.NaN)));
    console.log(
      `${name.padEnd(28)} ${Math.round(figure('rate')).toLocaleString('en').padStart(10)} calls/s` +
        `  p50 ${figure('p50').toFixed(2)} ms  p99 ${figure('p99').toFixed(2)} ms  ratio ${ratio.toFixed(2)}`,
    );
  }
}
