/**
 * Chooses the account that runs PostgreSQL, which refuses to run as root:
 *
 * - An ordinary user runs it directly.
 * - Root runs it as the owner of the cluster's directory if that is another user. Otherwise root runs it as the user
 *   `postgres`, and creates that user if needed.
 * - That user may be unable to reach the programs or the data, as in a clone under /root. It then gets the one capability to
 *   traverse directories, and no other. The permissions of directories that are not ours stay unchanged.
 */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { chmod, chown, readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The whole environment of started programs: our own holds secrets, and theirs must fix the language of messages. */
export const programEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } as const;

export interface SystemAccount {
  /** Absent: this process's own user. */
  readonly ids?: { readonly uid: number; readonly gid: number };
  /** Starts a program as this account. */
  spawn(program: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Gives a file or directory to this account. */
  own(path: string): Promise<void>;
}

/** `clusterPath` need not exist; `parentPath` contains it; `programs` are those that the account must run. */
export async function chooseAccount(
  clusterPath: string,
  parentPath: string,
  programs: readonly string[],
): Promise<SystemAccount> {
  if (process.getuid?.() !== 0) return ownAccount;
  const ids = (await ownerOf(clusterPath)) ?? (await postgresUser());
  await letThrough(parentPath, ids.gid);
  if (await canReach(ids, [parentPath, ...programs])) return accountOf(ids, []);
  return accountOf(ids, await passDirectories(ids));
}

const ownAccount: SystemAccount = {
  spawn: (program, args, options) => spawn(program, args, options),
  own: async () => undefined,
};

type Ids = { readonly uid: number; readonly gid: number };

/** With a `prefix`, that program starts it and changes the user. Otherwise this process changes the user. */
function accountOf(ids: Ids, prefix: readonly string[]): SystemAccount {
  const [wrapper, ...wrapperArgs] = prefix;
  return {
    ids,
    spawn: (program, args, options) =>
      wrapper === undefined
        ? spawn(program, args, { ...options, ...ids })
        : spawn(wrapper, [...wrapperArgs, program, ...args], options),
    own: (path) => chown(path, ids.uid, ids.gid),
  };
}

async function ownerOf(path: string): Promise<Ids | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

async function postgresUser(): Promise<Ids> {
  const found = await idsOf('postgres');
  if (found) return found;
  await run(
    'useradd',
    ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', 'postgres'],
    {
      env: programEnvironment,
    },
  ).catch((error: Error) => {
    throw new Error(
      `PostgreSQL refuses to run as root, there is no user "postgres", and it could not be created (${error.message.trim()}). Start the server as an ordinary user, or create that user.`,
    );
  });
  const made = await idsOf('postgres');
  if (made) return made;
  throw new Error('The user "postgres" was created but cannot be found.');
}

async function idsOf(user: string): Promise<Ids | undefined> {
  const ask = (flag: string) => run('id', [flag, user], { env: programEnvironment });
  try {
    const [uid, gid] = await Promise.all([ask('-u'), ask('-g')]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/**
 * A directory that is closed to all but root, as we make it, is opened to the group for traversal (not for listing).
 */
async function letThrough(path: string, gid: number): Promise<void> {
  const found = await stat(path);
  if (found.uid !== 0 || (found.mode & 0o077) !== 0) return;
  await chown(path, 0, gid);
  await chmod(path, 0o710);
}

function canReach(ids: Ids, paths: readonly string[]): Promise<boolean> {
  const tests = paths.map((_, index) => `test -x "$${index + 1}"`).join(' && ');
  return new Promise((fulfil) => {
    const child = spawn('/bin/sh', ['-c', tests, 'sh', ...paths], { ...ids, cwd: '/', stdio: 'ignore' });
    child.once('error', () => fulfil(false));
    child.once('exit', (code) => fulfil(code === 0));
  });
}

/** Reading and traversing is enough; if a container's limits leave only the stronger capability, that one. */
const passingCapabilities = [
  { name: 'dac_read_search', bit: 2n },
  { name: 'dac_override', bit: 1n },
];

async function passDirectories(ids: Ids): Promise<string[]> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const bounding = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  const capability = passingCapabilities.find(({ bit }) => (bounding >> bit) & 1n);
  const hasTool = await run('setpriv', ['--version'], { env: programEnvironment }).then(
    () => true,
    () => false,
  );
  if (capability === undefined || !hasTool) {
    throw new Error(
      `PostgreSQL refuses to run as root, and the user it is started as (uid ${ids.uid}) cannot reach the data directory or the installation. Move them to where other users may go, start the server as an ordinary user, or set DATABASE_URL.`,
    );
  }
  const only = `-all,+${capability.name}`;
  return [
    'setpriv',
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
    `--inh-caps=${only}`,
    `--ambient-caps=${only}`,
    `--bounding-set=${only}`,
    // Without it access(2), by which PostgreSQL finds its own program, ignores the capability.
    '--securebits=+no_setuid_fixup',
    '--no-new-privs',
  ];
}
