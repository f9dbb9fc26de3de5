#!/usr/bin/env node
/** The entry of `scriptorium`, the operator command line. */
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { BackupError, type BackupFailure } from '../process/backup/error.ts';
import {
  backupConfiguration,
  ConfigError,
  databaseUrl,
  internalApiConfiguration,
} from '../process/config/config.ts';
import { urlHost } from '../process/config/hosts.ts';
import { ownVersion } from '../process/own-version.ts';
import { StartError, serverExitCodes } from '../process/start-error.ts';
import type { Backups } from './commands/backup.ts';
import type { Examine } from './commands/doctor.ts';
import type { Migrate } from './commands/migrate.ts';
import type { Reshard } from './commands/reshard.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { type Defaults, runCommandLine } from './program.ts';
import { readSecretLine } from './secret-line.ts';

function defaults(): Defaults {
  const { host, port, socketPath, tokenFile, certFile, keyFile, clientCaFile } = internalApiConfiguration();
  return {
    address: port === undefined ? `unix:${socketPath}` : `${urlHost(host)}:${port}`,
    token: existsSync(tokenFile) ? tokenFile : undefined,
    // A node also shows its own certificate to other nodes. The authorities that vouch for callers vouch for nodes,
    // too.
    ca: clientCaFile,
    cert: certFile,
    key: keyFile,
  };
}

// Only these commands load the database driver.
const reshard: Reshard = (shardCount, onProgress) =>
  onDatabase(async (url) => {
    const { reshardDatabase } = await import('../process/reshard.ts');
    return reshardDatabase({ databaseUrl: url, shardCount, onProgress });
  });
const migrate: Migrate = {
  plan: () =>
    onDatabase(async (url) => {
      const { planMigration } = await import('../process/migrate.ts');
      return planMigration(url);
    }),
  apply: (onApplied) =>
    onDatabase(async (url) => {
      const { migrateDatabase } = await import('../process/migrate.ts');
      return migrateDatabase(url, onApplied);
    }),
};

const backups: Backups = {
  create: (request) =>
    withoutNode(async () => {
      const { backUpServer } = await import('../process/backup/operate.ts');
      return backUpServer(backupConfiguration(), request);
    }),
  list: (target) =>
    withoutNode(async () => {
      const { listBackups } = await import('../process/backup/operate.ts');
      return listBackups(backupConfiguration(), target);
    }),
  verify: (request) =>
    withoutNode(async () => {
      const { verifyBackup } = await import('../process/backup/operate.ts');
      return verifyBackup(backupConfiguration(), request);
    }),
  restore: (request) =>
    withoutNode(async () => {
      const { restoreServer } = await import('../process/backup/operate.ts');
      return restoreServer(backupConfiguration(), request);
    }),
};
const examine: Examine = async () => (await import('../process/doctor/doctor.ts')).examine();

/** @throws CommandFailure */
const onDatabase = <T>(work: (url: string | undefined) => Promise<T>): Promise<T> =>
  withoutNode(() => work(databaseUrl()));

const exitCodeOf: Readonly<Record<BackupFailure, number>> = {
  unavailable: exitCodes.unavailable,
  refused: exitCodes.refused,
  damaged: exitCodes.incomplete,
};

/** @throws CommandFailure */
async function withoutNode<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BackupError) throw new CommandFailure(exitCodeOf[error.failure], error.message);
    if (!(error instanceof StartError)) throw error;
    const isAway = error.exitCode === serverExitCodes.unavailable;
    throw new CommandFailure(isAway ? exitCodes.unavailable : exitCodes.refused, error.message);
  }
}

// The library passes a node's IP address to TLS as its name, and offers no way to change that.
process.noDeprecation = true;

// The reader of a pipe may close it early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const err = (text: string) => void process.stderr.write(text);

try {
  const terminal = {
    out: (text: string) => void process.stdout.write(text),
    err,
    askSecret: (prompt: string) => readSecretLine(process.stdin, () => err(prompt)),
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep: (ms: number) => setTimeout(ms),
  };
  const tools = { version: ownVersion(), migrate, reshard, examine, backups };
  process.exitCode = await runCommandLine(process.argv.slice(2), defaults(), terminal, tools);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  err(`${error.message}\n`);
  process.exitCode = exitCodes.usage;
}
