/**
 * `npm run test:cockroach`: the contract of the store, backups and a load test on a CockroachDB of this machine.
 * `COCKROACH_PATH` or the PATH names its binary. Nothing installs it: no distribution has it.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findCockroach, startTestCockroach } from '../test/kit/cockroach.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** A server with an empty database on it, under a minute of ordinary load. */
async function loadTest(binary: string): Promise<number> {
  const cockroach = await startTestCockroach(binary);
  try {
    const { host, port, user, database } = await cockroach.createDatabase();
    const url = `postgresql://${user}@${host}:${port}/${database}`;
    return await run('npm', ['run', 'load-test', '--', 'steady-mix', '--database', url]);
  } finally {
    await cockroach.stop();
  }
}

async function main(): Promise<number> {
  const binary = findCockroach(process.env);
  if (binary === undefined) {
    console.error('CockroachDB is missing: let COCKROACH_PATH name its binary.');
    return 2;
  }
  const contract = await run('node_modules/.bin/ava', [
    'runtime/store/contract-cockroach.test.ts',
    'test/backup/cockroach.test.ts',
  ]);
  return (await loadTest(binary)) || contract;
}

process.exit(await main());
