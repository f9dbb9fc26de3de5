/**
 * A Debian 13 with Node.js 24, which runs tests with software that the machine itself need not have. The program
 * mmdebstrap makes the file system once per machine, and Node.js comes from npm. Entering it needs root.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, findOrInstallProgram, type Program } from './program.ts';

const mmdebstrap: Program = {
  name: 'mmdebstrap',
  variable: 'MMDEBSTRAP_PATH',
  commands: ['mmdebstrap'],
  package: 'mmdebstrap',
};

/** The programs that tests of the server run. */
const packages = ['ca-certificates', 'curl', 'libstdc++6', 'nats-server', 'procps'];

export const nodeVersion = '24.21.0';

/** SHA-512 of npm's archives, by kind of processor. */
const nodeArchives: Readonly<Record<string, string>> = {
  x64: '3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64: 'FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

const repository = fileURLToPath(new URL('..', import.meta.url));
const cache = join(repository, '.cache');
/** The path of this repository in that file system. */
const repositoryInside = '/scriptorium';

/** The folder of this Debian, which is made if it is missing. @throws Error, one line, if that fails */
export function findOrMakeDebian(environment: Environment): string {
  const folder = join(cache, `debian-13-node-${nodeVersion}`);
  if (existsSync(folder)) return folder;
  const program = findOrInstallProgram(mmdebstrap, environment);
  mkdirSync(cache, { recursive: true });
  // Made under another name first, because several test processes may begin at once.
  const unpacked = mkdtempSync(join(cache, 'debian-13-'));
  try {
    const root = join(unpacked, 'root');
    const options = ['--mode=root', '--variant=minbase', `--include=${packages.join()}`];
    execFileSync(program, [...options, 'trixie', root], { stdio: 'pipe' });
    copyFileSync(fetchNode(unpacked), join(root, 'usr/local/bin/node'));
    chmodSync(join(root, 'usr/local/bin/node'), 0o755);
    mkdirSync(join(root, repositoryInside));
    writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
    if (!existsSync(folder)) renameSync(root, folder);
  } catch (error) {
    throw new Error(
      `A Debian 13 with Node.js ${nodeVersion} could not be made: ${lastLineOf(error as Error)}`,
    );
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
  return folder;
}

/** Fetches Node.js into this folder. Returns the path of its program. */
function fetchNode(folder: string): string {
  const name = `node-linux-${process.arch}`;
  const packed = execFileSync('npm', ['pack', '--silent', `${name}@${nodeVersion}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  const archive = join(folder, packed.trim());
  const sha512 = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (sha512 !== nodeArchives[process.arch]) throw new Error(`${name} is not the one that is expected`);
  execFileSync('tar', ['-xzf', archive, '-C', folder, 'package/bin/node']);
  return join(folder, 'package/bin/node');
}

function lastLineOf(error: Error & { readonly stderr?: Buffer }): string {
  const said = error.stderr?.toString().trim().split('\n').at(-1);
  return said || error.message.split('\n', 1)[0] || 'no reason was given';
}

/** Mounts go away when the last process inside has ended. */
const entering = `
set -e
mount --bind "$REPOSITORY" "$DEBIAN${repositoryInside}"
mount -t proc proc "$DEBIAN/proc"
mount --rbind /dev "$DEBIAN/dev"
mount -t tmpfs -o mode=1777 tmpfs "$DEBIAN/tmp"
exec chroot "$DEBIAN" sh -c 'cd ${repositoryInside} && exec "$@"' sh "$@"
`;

/** A program of `debian` with this repository as its folder: the file, arguments and environment to spawn. */
export function inside(debian: string, command: readonly string[]) {
  return {
    file: 'unshare',
    args: ['--mount', '--propagation', 'private', 'sh', '-c', entering, 'sh', ...command],
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: '/root',
      LANG: 'C.UTF-8',
      DEBIAN: debian,
      REPOSITORY: repository,
    },
  };
}
