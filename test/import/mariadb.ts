/** An installation in a MariaDB of its own: a data directory of this test, on loopback, and never a service of the system. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type Connection, createConnection } from 'mysql2/promise';
import { findProgram } from '../../tools/program.ts';
import { mariadb } from '../../tools/programs.ts';
import { freePorts } from '../kit/free-ports.ts';
import { createTables, Installation } from './installation.ts';

const password = 'its password';
/** What its package has the tables of rights in. */
const scripts = ['mysql_system_tables.sql', 'mysql_system_tables_data.sql'].map(
  (name) => `/usr/share/mysql/${name}`,
);

export interface MariadbInstallation {
  readonly there: Installation;
  readonly folder: string;
  readonly from: string;
  readonly passwordFile: string;
}

export async function mariadbInstallation(t: ExecutionContext): Promise<MariadbInstallation> {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-mariadb-'));
  const [port = 0] = await freePorts(1);
  const server = startMariadb(folder, port);
  t.teardown(async () => {
    await ended(server);
    rmSync(folder, { recursive: true, force: true });
  });
  const connection = await connected(port, server);
  t.teardown(() => connection.end());
  const there = new Installation(async (sql, values = []) => void (await connection.query(sql, [...values])));
  await createTables(there.run);
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${password}\n`);
  return { there, folder, from: `mysql://notes@127.0.0.1:${port}/notes`, passwordFile };
}

function startMariadb(folder: string, port: number): ChildProcess {
  const program = findProgram(mariadb, process.env);
  const data = join(folder, 'data');
  mkdirSync(data);
  const common = ['--no-defaults', `--datadir=${data}`, '--innodb-buffer-pool-size=16M', ...asRoot()];
  const tables = scripts.map((file) => readFileSync(file, 'utf8'));
  const input = ['CREATE DATABASE mysql;', 'USE mysql;', ...tables].join('\n');
  const made = spawnSync(program, [...common, '--bootstrap', '--skip-networking'], {
    input,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`MariaDB made no tables of rights: ${made.stderr.slice(-500)}`);
  const initFile = join(folder, 'init.sql');
  writeFileSync(
    initFile,
    [
      'CREATE DATABASE notes CHARACTER SET utf8mb4;',
      `CREATE USER notes@'%' IDENTIFIED BY '${password}';`,
      "GRANT ALL ON notes.* TO notes@'%';\n",
    ].join('\n'),
  );
  const places = [
    `--socket=${join(folder, 's')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--init-file=${initFile}`,
  ];
  const network = [
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    '--skip-name-resolve',
    '--max-allowed-packet=64M',
  ];
  return spawn(program, [...common, ...places, ...network], { stdio: 'ignore' });
}

/** It refuses to run as root unless it is told to. */
const asRoot = (): string[] => (process.getuid?.() === 0 ? ['--user=root'] : []);

const startMaxMs = 60_000;
const pauseMs = 100;

async function connected(port: number, server: ChildProcess): Promise<Connection> {
  for (let leftMs = startMaxMs; ; leftMs -= pauseMs) {
    try {
      return await createConnection({
        host: '127.0.0.1',
        port,
        user: 'notes',
        password,
        database: 'notes',
        charset: 'utf8mb4',
      });
    } catch (error) {
      if (leftMs <= 0 || server.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const over = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await over;
}
