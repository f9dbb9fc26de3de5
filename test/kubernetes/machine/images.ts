/**
 * The images, made without a registry: a Debian by mmdebstrap, on which buildah builds ours from its Containerfile,
 * and PostgreSQL and NATS from Debian. Each becomes an archive that a container runtime imports.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findOrMakeDebian } from '../../../tools/debian.ts';
import { k6Program } from '../../../tools/programs.ts';
import { commandsOf, replaced } from '../../documentation/commands.ts';
import { root } from '../../kit/server-process.ts';
import { extractSources } from '../../kit/sources.ts';
import { coreDnsProgram, metricsServerProgram } from './programs.ts';

export const builds = ['0.1.0', '0.2.0'] as const;

export const images = {
  server: 'localhost/scriptorium',
  pause: 'localhost/pause:1',
  coreDns: 'localhost/coredns:1',
  postgresql: 'localhost/postgresql:1',
  nats: 'localhost/nats:1',
  k6: 'localhost/k6:1',
  metricsServer: 'localhost/metrics-server:1',
} as const;

const { server, ...others } = images;
const allImages = [...Object.values(others), ...builds.map((build) => `${server}:${build}`)];

const debian = 'localhost/debian:1';
const buildBase = 'localhost/node:1';
const authorities = '/etc/ssl/certs/ca-certificates.crt';
const cache = join(root, '.cache');
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Images in a separate store, made by runc, which also works with the control groups of older systems. */
function buildah(...args: readonly string[]): string {
  return buildahIn(root, args);
}

function buildahIn(folder: string, args: readonly string[]): string {
  const store = ['--root', join(cache, 'images'), '--runroot', join(cache, 'images-run')];
  return execFileSync('buildah', [...store, ...args], {
    cwd: folder,
    env: { ...process.env, BUILDAH_ISOLATION: 'oci', BUILDAH_RUNTIME: 'runc' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  }).trim();
}

/** The base of an image, without the folders and archives added to it. */
interface BuiltImage {
  readonly name: string;
  readonly from: string;
  /** The added files, and their target. */
  readonly added?: readonly (readonly [source: string, target: string])[];
  readonly run?: readonly string[];
  readonly config?: readonly string[];
}

function make({ name, from, added = [], run, config = [] }: BuiltImage): void {
  const container = buildah('from', from);
  try {
    for (const [source, target] of added) buildah('add', '--quiet', container, source, target);
    if (run !== undefined) buildah('run', '--user', '0', container, ...run);
    const path = from === 'scratch' ? ['--env', `PATH=${systemPath}`] : [];
    buildah('config', ...path, ...config, container);
    buildah('commit', '--quiet', container, name);
  } finally {
    buildah('rm', container);
  }
}

/** Archives of all images that the cluster runs, made anew. The first build is of `former`, a commit, if there is one. */
export function makeImages(folder: string, former: string | undefined): readonly string[] {
  mkdirSync(folder, { recursive: true });
  makeBases(folder);
  makeOthers(folder);
  makeServers(folder, former);
  for (const name of allImages) archive(name, folder);
  return archivesOf(folder);
}

/** Where `makeImages` leaves them. */
export const archivesOf = (folder: string): readonly string[] =>
  allImages.map((name) => archiveOf(name, folder));

const archiveOf = (name: string, folder: string): string =>
  join(folder, `${name.replace(/^.*\//, '').replace(':', '-')}.image.tar`);

function makeBases(folder: string): void {
  make({ name: debian, from: 'scratch', added: [[fileSystem(folder, 'debian', []), '/']] });
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
  make({
    name: buildBase,
    from: debian,
    added: [
      [join(findOrMakeDebian(process.env), 'usr/local/bin/node'), '/usr/local/bin/node'],
      [npm, '/usr/local/lib/node_modules/npm'],
      // The authorities that this machine trusts, such as a company's proxy.
      [authorities, authorities],
    ],
    run: ['ln', '-s', '/usr/local/lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm'],
    config: ['--env', `NODE_EXTRA_CA_CERTS=${authorities}`],
  });
}

function makeOthers(folder: string): void {
  const { pause, coreDns, postgresql, nats, k6, metricsServer } = images;
  make({ name: pause, from: debian, config: ['--cmd', 'sleep infinity'] });
  make({
    name: coreDns,
    from: 'scratch',
    added: [[coreDnsProgram, '/coredns']],
    config: ['--entrypoint', '["/coredns"]'],
  });
  make({
    name: postgresql,
    from: 'scratch',
    added: [[fileSystem(folder, 'postgresql', ['postgresql']), '/']],
    // initdb wants a user with a name.
    run: ['useradd', '--uid', '10002', '--no-create-home', 'database'],
    config: ['--user', '10002:10002'],
  });
  make({
    name: nats,
    from: 'scratch',
    added: [[fileSystem(folder, 'nats', ['nats-server']), '/']],
    config: ['--entrypoint', '["nats-server"]'],
  });
  make({ name: k6, from: debian, added: [[k6Program, '/usr/local/bin/k6']] });
  make({
    name: metricsServer,
    from: 'scratch',
    added: [[metricsServerProgram, '/metrics-server']],
    config: ['--entrypoint', '["/metrics-server"]'],
  });
}

/** The archive of a Debian with these packages. */
function fileSystem(folder: string, name: string, packages: readonly string[]): string {
  const file = join(folder, `${name}.tar`);
  const options = ['--mode=root', '--variant=minbase', ...packages.map((each) => `--include=${each}`)];
  if (!existsSync(file)) execFileSync('mmdebstrap', [...options, 'trixie', file], { stdio: 'pipe' });
  return file;
}

const { build } = commandsOf('docs/kubernetes.md', 'The image', ['build']);

/** buildah's options in place of Docker's, on the bases that are made here. */
export const buildWith = (name: string): string =>
  replaced(build, {
    'docker build': `build --layers --network host --build-arg BUILD_BASE=${buildBase} --build-arg BASE=${debian}`,
    'registry.example.org/scriptorium:0.1.0': name,
  });

/** What the second build adds to the schema. */
export const nextMigration = {
  id: 'domain-9001-color',
  sql: 'ALTER TABLE item ADD COLUMN IF NOT EXISTS color text',
};

/** The second build is this one with another version and one more migration, like the release after the first. */
function makeServers(folder: string, former: string | undefined): void {
  const [first, second] = builds;
  const name = `${images.server}:${first}`;
  const successor = `${images.server}:${second}`;
  buildah(...buildWith(successor).split(' '));
  if (former === undefined) buildah('tag', successor, name);
  else makeServerOf(former, name);
  const description = join(folder, 'package.json');
  writeFileSync(description, JSON.stringify({ name: 'scriptorium', version: second, type: 'module' }));
  const folderInImage = '/opt/scriptorium';
  // On a line of its own: the file ends within a comment.
  const addition = `\ndomainMigrations.push(${JSON.stringify(nextMigration)});`;
  make({
    name: successor,
    from: successor,
    added: [[description, `${folderInImage}/package.json`]],
    run: ['sh', '-c', `echo '${addition}' >> ${folderInImage}/dist/actors/migrations.js`],
  });
}

function makeServerOf(commit: string, name: string): void {
  const folder = join(cache, 'former-sources');
  extractSources(commit, folder);
  buildahIn(folder, buildWith(name).split(' '));
}

function archive(name: string, folder: string): void {
  const file = archiveOf(name, folder);
  rmSync(file, { force: true });
  buildah('push', '--quiet', name, `docker-archive:${file}:${name}`);
}

/** The unpacked size of the server's image. */
export function serverImageMegabytes(): number {
  const container = buildah('from', `${images.server}:${builds[1]}`);
  try {
    const folder = buildah('mount', container);
    const [bytes = ''] = execFileSync('du', ['--summarize', '--bytes', folder], { encoding: 'utf8' }).split(
      '\t',
    );
    return Math.round(Number(bytes) / 1_000_000);
  } finally {
    buildah('rm', container);
  }
}
