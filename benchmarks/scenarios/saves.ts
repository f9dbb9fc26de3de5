/** Saves of one new 1 KB item each: 64 connections, 32 users; and where the CPU went. */

import { runLoad } from '../http-load.ts';
import { cpuTimes } from '../support/machine.ts';
import type { LoadServer } from '../support/server.ts';
import { loads } from './steady.ts';

const connections = 64;
const durationMs = 8_000;

export async function saves(server: LoadServer) {
  const { hostname, port } = new URL(server.url);
  const load = await loads.saves(server.url, connections);
  const options = { host: hostname, port: Number(port), connections, ...load };
  await runLoad({ ...options, durationMs: 1_500 });
  const before = { ...cpuTimes(server.pid), generator: process.cpuUsage() };
  const result = await runLoad({ ...options, durationMs });
  const after = { ...cpuTimes(server.pid), generator: process.cpuUsage(before.generator) };
  if (result.statuses[200] !== result.replies) throw new Error(`answers: ${JSON.stringify(result.statuses)}`);
  const share = (ms: number) => ms / durationMs;
  return {
    'saves/s': result.repliesPerSecond,
    'p50 ms': result.p50Ms,
    'p99 ms': result.p99Ms,
    'cores used by the server process': share(after.ownMs - before.ownMs),
    'cores used by the database': share(after.belowMs - before.belowMs),
    'cores used by the load generator': share((after.generator.user + after.generator.system) / 1_000),
  };
}
