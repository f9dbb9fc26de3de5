/**
 * How long the worst request of each route holds the event loop of the server (docs/amplification.md): the longest
 * stretch during the request, worst first. The server is in this thread over the model store and the client in
 * another one, so the stretches are those of the server alone. A busy machine only lengthens stretches, so the
 * shortest of all runs counts.
 *
 * node --import=tsx benchmarks/event-loop.ts [--runs 5] [--only /dav] [--write]
 *
 * With `--write`, `npm run docs` puts the figures into docs/amplification.md.
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { ExecutionContext } from 'ava';
import { requestOf, settle, startMeter } from '../test/amplification/meter.ts';
import {
  largestRequests,
  type PreparedCall,
  type WorstRequest,
  worstRequests,
} from '../test/amplification/worst-requests.ts';
import { median } from './support/figures.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const runs = Number(values.runs);
const quietMs = 20;

const client = new Worker(
  `const { parentPort } = require('node:worker_threads');
   let next;
   parentPort.on('message', async (message) => {
     if (message !== 'ask') { next = message; return; }
     const { url, init } = next;
     const answer = await fetch(url, init);
     parentPort.postMessage({ status: answer.status, bytes: (await answer.arrayBuffer()).byteLength });
   });`,
  { eval: true },
);
// Otherwise the garbage of the preparation would be collected during the measured request.
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const delay = monitorEventLoopDelay({ resolution: 1 });
const teardowns: (() => unknown)[] = [];
const t = { teardown: (fn: () => unknown) => teardowns.unshift(fn) } as unknown as ExecutionContext;

interface Answer {
  readonly status: number;
  readonly bytes: number;
}

/** The longest stretch during this request, in milliseconds. */
async function ask(url: string, call: PreparedCall): Promise<Answer & { readonly stretchMs: number }> {
  client.postMessage({ url: url + call.path, init: requestOf(call) });
  collectGarbage();
  await sleep(quietMs);
  delay.enable();
  delay.reset();
  const answered = new Promise<Answer>((resolve) => client.once('message', resolve));
  client.postMessage('ask');
  const answer = await answered;
  await sleep(quietMs);
  delay.disable();
  return { ...answer, stretchMs: delay.max / 1e6 };
}

async function measure({ route, worst, prepare }: WorstRequest) {
  const stretches: number[] = [];
  let bytes = 0;
  for (let run = 0; run < runs; run += 1) {
    const meter = await startMeter(t);
    const call = await prepare(await meter.server.device('somebody@example.org'), meter.server);
    await settle(meter);
    const answer = await ask(meter.server.url, call);
    if (answer.status >= 300) throw new Error(`${route} was answered ${answer.status}`);
    stretches.push(answer.stretchMs);
    bytes = answer.bytes;
    for (const teardown of teardowns.splice(0)) await teardown();
  }
  return {
    'shortest (ms)': round(Math.min(...stretches)),
    'median (ms)': round(median(stretches)),
    'answer (KiB)': round(bytes / 1_024),
    route,
    worst,
  };
}

const round = (value: number) => Math.round(value * 10) / 10;

const machine = `the load of the machine was ${loadavg()[0]?.toFixed(1)} when it began`;
const measured = [];
for (const each of [...worstRequests, ...largestRequests]) {
  if (each.route.includes(values.only)) measured.push(await measure(each));
}
measured.sort((a, b) => b['shortest (ms)'] - a['shortest (ms)']);
if (values.write) {
  const slices = measured.map(({ 'shortest (ms)': ms, route, worst }) => ({ route, worst, ms }));
  writeFileSync(
    new URL('../test/amplification/slices.json', import.meta.url),
    `${JSON.stringify({ runs, machine, slices }, null, 2)}\n`,
  );
}
console.table(measured);
await client.terminate();
process.exit(0);
