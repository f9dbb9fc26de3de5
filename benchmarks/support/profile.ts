/** Where a server spends its time: samples of the V8 profiler, added up by module. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './build.ts';
import { type LoadServer, startBuiltServer } from './server.ts';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  /** By the monotonic clock of the machine, like `timeDeltas`. Microseconds. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shownModules = 25;
const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n);

/** Uses a server under the profiler. The steady part is the last `steadyMs` of the use. */
export async function profiled(
  build: Build,
  use: (server: LoadServer) => Promise<unknown>,
  steadyMs: number,
) {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-profile-'));
  try {
    const nodeArguments = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
    const server = await startBuiltServer({}, undefined, { ...build, nodeArguments });
    await use(server);
    const toMicros = nowMicros();
    await server.stop();
    const [file = ''] = await readdir(folder);
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as Profile;
    return { profile, fromMicros: toMicros - steadyMs * 1_000, toMicros };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Microseconds by module, most first. Idle time is left out. */
export function modulesOf(profile: Profile, root: string, fromMicros: number, toMicros: number) {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const spent = new Map<string, number>();
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    const micros = profile.timeDeltas[index] ?? 0;
    at += micros;
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === '(idle)' || at < fromMicros || at > toMicros) return;
    const name =
      frame.url === '' ? frame.functionName : frame.url.replace(`file://${root.replace(/\/$/, '')}/`, '');
    spent.set(name, (spent.get(name) ?? 0) + micros);
  });
  return [...spent].toSorted(([, one], [, other]) => other - one);
}

export function printModules(
  title: string,
  modules: readonly (readonly [name: string, micros: number])[],
): void {
  const all = modules.reduce((total, [, micros]) => total + micros, 0);
  console.log(`\n${title}: ${Math.round(all / 1_000)} ms`);
  for (const [name, micros] of modules.slice(0, shownModules))
    console.log(`  ${((micros / all) * 100).toFixed(1).padStart(5)} %  ${name}`);
}
