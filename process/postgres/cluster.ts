import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programEnvironment, type SystemAccount } from './account.ts';

export const superuser = 'scriptorium';
export const embeddedConnectionsMax = 50;

/**
 * Settings for a small machine that also runs the server. Idle, all processes together hold 19 MB (proportional set
 * size, five processes; the buffers count once they are touched). The list repeats PostgreSQL's durability defaults
 * so that no configuration file weakens them.
 */
const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: String(embeddedConnectionsMax),
  shared_buffers: '64MB',
  huge_pages: 'off',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  effective_cache_size: '512MB',
  // One host's statements are short. Parallel workers, a compiler and read-ahead workers cost more than they gain,
  // and each is a process.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  io_method: 'sync',
  jit: 'off',
  autovacuum_max_workers: '1',
  // Nothing replicates from an embedded database.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  max_wal_size: '512MB',
  // We write the log, and it must not contain users' data. PostgreSQL puts values into the details of its errors, so
  // it logs only its own life, tersely.
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  lc_messages: 'C',
} as const;

export interface ServerEndpoint {
  /** The directory of the unix socket, or 127.0.0.1. */
  readonly host: string;
  readonly port: number;
}

/** `overrides` win over the settings above. They are for tests, which need less durability and more connections. */
export function serverArguments(
  clusterPath: string,
  endpoint: ServerEndpoint,
  overrides: Readonly<Record<string, string>> = {},
): string[] {
  const onSocket = endpoint.host.startsWith('/');
  const all = {
    ...settings,
    ...overrides,
    listen_addresses: onSocket ? '' : endpoint.host,
    // Relative to the cluster's directory, in which the server runs, so the path is never too long.
    unix_socket_directories: onSocket ? '.' : '',
    unix_socket_permissions: '0700',
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', clusterPath, '-p', String(endpoint.port), ...flags];
}

/**
 * Makes the cluster if there is none. It makes it beside its final path and renames it when complete, so an
 * interrupted start leaves nothing that looks like a database.
 */
export async function initialiseCluster(
  clusterPath: string,
  options: { readonly initdb: string; readonly account: SystemAccount; readonly password: string },
): Promise<void> {
  if (await exists(clusterPath)) return;
  const { initdb, account, password } = options;
  const draft = `${clusterPath}.new`;
  const passwordFile = `${clusterPath}.password.tmp`;
  await rm(draft, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await mkdir(draft, { mode: 0o700 });
  await account.own(draft);
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
  await account.own(passwordFile);
  try {
    await runInitdb(initdb, account, draft, passwordFile);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, clusterPath);
}

function runInitdb(
  initdb: string,
  account: SystemAccount,
  path: string,
  passwordFile: string,
): Promise<void> {
  const args = [
    `--pgdata=${path}`,
    `--pwfile=${passwordFile}`,
    `--username=${superuser}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  return new Promise((fulfil, reject) => {
    const child = account.spawn(initdb, args, {
      cwd: '/',
      env: programEnvironment,
      stdio: ['ignore', 'ignore', 'pipe'],
      // The server handles a Ctrl-C that is meant for it.
      detached: true,
    });
    let output = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-2_000);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return fulfil();
      reject(new Error(`PostgreSQL's initdb failed (exit code ${code}): ${output.trim()}`));
    });
  });
}

async function exists(clusterPath: string): Promise<boolean> {
  return stat(join(clusterPath, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}
