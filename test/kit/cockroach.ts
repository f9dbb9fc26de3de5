/** A CockroachDB for one test process: a single node in memory on loopback, if there is a binary to run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findProgram, type Program } from '../../tools/program.ts';
import type { DatabaseConnection, TestPostgres } from './postgres.ts';

const program: Program = {
  name: 'CockroachDB',
  variable: 'COCKROACH_PATH',
  commands: ['cockroach'],
  package: 'cockroach',
};
const startMaxMs = 60_000;
const pollMs = 50;

/** The binary that COCKROACH_PATH names, or else the one on the PATH. Nothing installs it: no distribution has it. */
export function findCockroach(environment: NodeJS.ProcessEnv): string | undefined {
  try {
    return findProgram(program, environment);
  } catch {
    return undefined;
  }
}

export async function startTestCockroach(binary: string): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-cockroach-'));
  const urlFile = join(folder, 'url');
  const server = spawn(
    binary,
    [
      'start-single-node',
      '--insecure',
      '--store=type=mem,size=640MiB',
      '--listen-addr=127.0.0.1:0',
      '--http-addr=127.0.0.1:0',
      `--listening-url-file=${urlFile}`,
      '--log=sinks: {stderr: {channels: all, filter: FATAL}}',
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const endWithProcess = () => server.kill('SIGKILL');
  process.once('exit', endWithProcess);
  const connection = connectionOf(await whenListening(urlFile, server));
  await command(connection, 'SET CLUSTER SETTING sql.txn.read_committed_isolation.enabled = true');

  let databases = 0;
  return {
    async createDatabase() {
      databases += 1;
      const database = `test_${databases}`;
      await command(connection, `CREATE DATABASE ${database}`);
      return { ...connection, database };
    },
    async stop() {
      const ended = new Promise((resolve) => server.once('close', resolve));
      server.kill('SIGKILL');
      await ended;
      process.off('exit', endWithProcess);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The file appears when the node accepts connections. */
async function whenListening(urlFile: string, server: ChildProcess): Promise<string> {
  for (let waitedMs = 0; waitedMs < startMaxMs; waitedMs += pollMs) {
    if (server.exitCode !== null) throw new Error(`CockroachDB ended with ${server.exitCode}`);
    const url = await readFile(urlFile, 'utf8').catch(() => '');
    if (url.endsWith('\n')) return url.trim();
    await sleep(pollMs);
  }
  throw new Error('CockroachDB does not start');
}

function connectionOf(url: string): DatabaseConnection {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port), user: 'root', password: '', database: 'defaultdb' };
}

async function command(connection: DatabaseConnection, text: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(text);
  await client.end();
}
