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
export function takeTheFenceAway(builds: Builds): Promise<void> {
  const file = ['runtime', 'store', 'postgres', 'commit.js'];
  return takeAway(builds, file, [' AND actor.epoch = w.epoch AND actor.version = w.version']);
}

/** A planted bug: from now on a host that has lost its lease keeps listening for its shards, even once others own them. */
function letLapsedHostsListen(builds: Builds): Promise<void> {
  const unroute = 'this.#options.transport.unroute';
  const file = ['runtime', 'ownership', 'ownership.js'];
  return takeAway(builds, file, [`${unroute}(this.shards);`, `${unroute}(disputed);`]);
}

/** What the nemesis must find, by name. */
export const plantedBugs = {
  'no-fence': takeTheFenceAway,
  'lapsed-hosts-listen': letLapsedHostsListen,
};

async function takeAway(
  { current, next }: Builds,
  path: readonly string[],
  texts: readonly string[],
): Promise<void> {
  for (const build of [current, next]) {
    const file = join(build, ...path);
    let source = await readFile(file, 'utf8');
    for (const text of texts) {
      const [before, after, more] = source.split(text);
      if (before === undefined || after === undefined || more !== undefined)
        throw new Error(`${text} is not found once in ${file}`);
      source = before + after;
    }
    await writeFile(file, source);
  }
}
