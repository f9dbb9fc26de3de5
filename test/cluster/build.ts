/** The build that nodes run: the server as built for release, and the same with a later version number. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildServer } from '../kit/built-server.ts';
import { root } from '../kit/server-process.ts';
import { extractSources } from '../kit/sources.ts';

export interface Builds {
  /** Directories with a `main.js`. */
  readonly current: string;
  readonly next: string;
}

/** Inside the repository, so that the built files find their packages; each test file has a separate one. */
export async function buildTwice(name: string): Promise<Builds> {
  const builds = await prepare(name);
  await buildServer(builds.next);
  await cp(builds.next, builds.current, { recursive: true });
  return withVersions(builds);
}

/** What nodes start with is the server of an earlier commit, on the packages of this one. */
export async function buildAfter(former: string, name: string): Promise<Builds> {
  const builds = await prepare(name);
  await buildServer(builds.next);
  await cp(await buildOf(former), builds.current, { recursive: true });
  return withVersions(builds);
}

async function prepare(name: string): Promise<Builds> {
  const folder = join(root, '.cache', `cluster-test-${name}`);
  await rm(folder, { recursive: true, force: true });
  const builds = { current: join(folder, 'current'), next: join(folder, 'next') };
  for (const directory of Object.values(builds)) await mkdir(directory, { recursive: true });
  return builds;
}

async function withVersions(builds: Builds): Promise<Builds> {
  await setVersion(builds.current, '0.1.0');
  await setVersion(builds.next, '0.2.0');
  return builds;
}

/** Builds the server of a commit by the commands of that commit, once. Resolves to its directory. */
async function buildOf(commit: string): Promise<string> {
  const folder = join(root, '.cache', `server-of-${commit}`);
  const built = join(folder, 'dist');
  if (existsSync(join(built, 'main.js'))) return built;
  extractSources(commit, folder);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await promisify(execFile)('npm', ['run', 'build'], { cwd: folder });
  return built;
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
