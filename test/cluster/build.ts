/** The build that nodes run: the server as built for release, and the same with a later version number. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildServer } from '../kit/built-server.ts';
import { root } from '../kit/server-process.ts';

export interface Builds {
  /** Directories with a `main.js`. */
  readonly current: string;
  readonly next: string;
}

/** Inside the repository, so that the built files find their packages; each test file has a separate one. */
export async function buildTwice(name: string): Promise<Builds> {
  const folder = join(root, '.cache', `cluster-test-${name}`);
  const builds = { current: join(folder, 'current'), next: join(folder, 'next') };
  await buildServer(builds.current);
  await mkdir(builds.next, { recursive: true });
  await cp(builds.current, builds.next, { recursive: true });
  await setVersion(builds.current, '0.1.0');
  await setVersion(builds.next, '0.2.0');
  return builds;
}

/** The server reads its version from the package beside it. */
function setVersion(directory: string, version: string): Promise<void> {
  return writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module', version }));
}

/** A planted bug: from now on these builds write even if another node owns the actor, and over any version. */
export async function takeTheFenceAway({ current, next }: Builds): Promise<void> {
  for (const build of [current, next]) {
    const file = join(build, 'runtime', 'store', 'postgres', 'commit.js');
    const fenced = await readFile(file, 'utf8');
    const unfenced = fenced.replace(' AND actor.epoch = w.epoch AND actor.version = w.version', '');
    if (unfenced === fenced) throw new Error('the fence was not found where it is expected');
    await writeFile(file, unfenced);
  }
}
