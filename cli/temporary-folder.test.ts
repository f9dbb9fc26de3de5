import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { runs } from '../test/kit/built.ts';
import { endWithTests } from '../test/kit/child.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  test(`what \`import account\` has fetched is gone after ${signal}`, async (t) => {
    const parent = mkdtempSync(join(tmpdir(), 'interrupted-'));
    t.teardown(() => rmSync(parent, { recursive: true }));
    // It never answers.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = ['import', 'account', '--from', url, '--email', 'ada@example.org'];
    const child = spawn(process.execPath, [...runs('cli/main.ts'), ...args], {
      env: { ...process.env, TMPDIR: parent },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    void endWithTests(child);
    const exited = once(child, 'exit');
    const asked = once(server, 'request');
    child.stdin.end('the password\n');
    await asked;
    const [folder = ''] = readdirSync(parent);
    t.is(statSync(join(parent, folder)).mode & 0o777, 0o700);
    t.true(readdirSync(join(parent, folder)).includes('account.sqlite'));
    child.kill(signal);
    t.deepEqual(await exited, [null, signal]);
    t.deepEqual(readdirSync(parent), []);
  });
}

test('signals do what they did before, once the folder is gone', async (t) => {
  const before = process.listenerCount('SIGINT');
  await withTemporaryFolder(async () => t.is(process.listenerCount('SIGINT'), before + 1));
  await t.throwsAsync(
    withTemporaryFolder(() => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  );
  t.is(process.listenerCount('SIGINT'), before);
});
