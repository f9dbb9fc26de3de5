/**
 * Two builds under the same loads, in turns within one run, so that both meet the same machine:
 *
 * node --import=tsx benchmarks/compare.ts A B [--runs 5] [--only saves,edits] [--seconds 6] [--profile]
 *
 * A and B are revisions (`.` is the working tree). Each figure is the median of the runs with its range; a ratio is
 * printed only where the ranges do not overlap, or where one build is ahead in each of six or more pairs of runs.
 * Counts of the database and the kernel are for one request. `--profile` adds one run of each build under the sampling
 * profiler and shows in which modules its steady part spent its time.
 */
import { parseArgs } from 'node:util';
import { runLoad } from './http-load.ts';
import { type LoadName, loads } from './scenarios/steady.ts';
import { type Build, buildOf } from './support/build.ts';
import { counters, perRequest } from './support/counters.ts';
import { printComparison } from './support/figures.ts';
import { modulesOf, printModules, profiled } from './support/profile.ts';
import { type LoadServer, startBuiltServer } from './support/server.ts';

const connections = 64;
const warmupMs = 2_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    only: { type: 'string' },
    seconds: { type: 'string', default: '6' },
    profile: { type: 'boolean', default: false },
  },
});
const [before, after] = positionals;
if (before === undefined || after === undefined) throw new Error('which two revisions?');
const names = Object.keys(loads) as LoadName[];
const selected = names.filter((name) => values.only?.split(',').includes(name) ?? true);
if (selected.length === 0) throw new Error(`no such load; there are ${names}`);
const durationMs = Number(values.seconds) * 1_000;

async function measure(server: LoadServer, name: LoadName): Promise<Record<string, number>> {
  const { hostname, port } = new URL(server.url);
  const load = {
    host: hostname,
    port: Number(port),
    connections,
    ...(await loads[name](server.url, connections)),
  };
  await runLoad({ ...load, durationMs: warmupMs });
  const start = await counters(server);
  const { replies, repliesPerSecond, p50Ms, p99Ms, statuses } = await runLoad({ ...load, durationMs });
  if (statuses[200] !== replies) throw new Error(`answers: ${JSON.stringify(statuses)}`);
  const spent = perRequest(start, await counters(server), replies);
  return { 'replies/s': repliesPerSecond, 'p50 ms': p50Ms, 'p99 ms': p99Ms, ...spent };
}

async function measured(build: Build, name: LoadName): Promise<Record<string, number>> {
  const server = await startBuiltServer({}, undefined, build);
  try {
    return await measure(server, name);
  } finally {
    await server.stop();
  }
}

const builds = [await buildOf(before), await buildOf(after)] as const;
for (const name of selected) {
  const runs = builds.map((): Record<string, number>[] => []);
  for (let run = 0; run < Number(values.runs); run += 1) {
    // Each build comes second as often as the other, because the first of a pair may leave something behind.
    const order = run % 2 === 0 ? [0, 1] : [1, 0];
    for (const which of order) runs[which]?.push(await measured(builds[which] as Build, name));
  }
  printComparison(name, [before, after], runs);
  if (!values.profile) continue;
  for (const build of builds) {
    const { profile, fromMicros, toMicros } = await profiled(
      build,
      (server) => measure(server, name),
      durationMs,
    );
    printModules(`${name}, ${build.name}`, modulesOf(profile, build.folder, fromMicros, toMicros));
  }
}
