/**
 * An import from the existing server's SQLite (docs/import.md) into the built server. It prints items a second, and the CPU
 * time and the largest memory of both processes. It also prints how long a second pass takes that finds everything here.
 *
 * npm run build && node --import=tsx benchmarks/import.ts [--items 100000] [--users 10] [--bytes 1000]
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { createTables, Installation } from '../test/import/installation.ts';
import { printFigures } from './support/figures.ts';
import { cpuMs, peakBytes } from './support/machine.ts';
import { numberOptions } from './support/options.ts';
import { startBuiltServer } from './support/server.ts';

const {
  items: itemCount,
  users: userCount,
  bytes,
} = numberOptions({ items: 100_000, users: 10, bytes: 1_000 });
const tellCost =
  "data:text/javascript,process.on('exit',()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();console.error(JSON.stringify({maxRSS,cpuUs:userCPUTime+systemCPUTime}))})";

const folder = mkdtempSync(join(tmpdir(), 'scriptorium-import-'));
const file = join(folder, 'home_server.sqlite');
await fill();
const server = await startBuiltServer();
try {
  const beforeMs = cpuMs(server.pid);
  const first = await pass();
  const serverMs = cpuMs(server.pid) - beforeMs;
  const second = await pass();
  printFigures(`${itemCount} items of ${bytes} bytes, ${userCount} accounts`, {
    'items/s': itemCount / first.seconds,
    'CPU per item, command, µs': first.cpuUs / itemCount,
    'CPU per item, server without its database, µs': (serverMs * 1_000) / itemCount,
    'largest memory of the command, MiB': first.maxRSS / 1_024,
    'largest memory of the server, MiB': peakBytes(server.pid) / 1_048_576,
    'second pass, s': second.seconds,
  });
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function fill(): Promise<void> {
  const database = new sqlite.Database(file);
  const there = new Installation(async (sql, values = []) => void database.run(sql, [...values]));
  await createTables(there.run);
  const each = Math.ceil(itemCount / userCount);
  for (let user = 0; user < userCount; user += 1) {
    const { uuid } = await there.user(`user-${user}@example.org`);
    await there.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO items (uuid, user_uuid, content, content_type, deleted, created_at_timestamp, updated_at_timestamp)
       SELECT ? || substr('000000000000' || i, -12), ?, '004:' || hex(randomblob(?)), 'Note', 0, i, i FROM n`,
      [each, randomUUID().slice(0, 24), uuid, Math.floor(bytes / 2)],
    );
  }
  database.close();
}

interface Pass {
  readonly seconds: number;
  readonly maxRSS: number;
  readonly cpuUs: number;
}

async function pass(): Promise<Pass> {
  const address = `unix:${join(server.dataDirectory, 'internal-api.sock')}`;
  const command = ['dist/cli/main.js', '--address', address, 'import', 'server', '--from', `sqlite:${file}`];
  const options = ['--without-key', 'drop', '--keep-closed', '--report', join(folder, 'report.json')];
  const start = performance.now();
  const child = spawn(process.execPath, ['--import', tellCost, ...command, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`exit code ${code}: ${said}`);
  const cost = JSON.parse(said.trim().split('\n').at(-1) ?? '');
  return { seconds: (performance.now() - start) / 1_000, ...cost };
}
