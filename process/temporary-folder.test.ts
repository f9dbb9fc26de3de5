import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { runs } from '../test/kit/built.ts';
import { endWithTests } from '../test/kit/child.ts';
import { folderOf, type Manifest, manifestBytes, manifestOf, sha256 } from './backup/format.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const prefix = 'scriptorium-test-';

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

/** A folder of backups with one whose first object is a pipe that nobody writes to, so reading it never ends. */
function endlessBackup(folder: string): void {
  const id = '20260102T031500000Z-0a1b2c3d';
  const object = { name: `${folderOf(id)}objects-0`, bytes: 0, sha256: sha256('') };
  const manifest: Manifest = {
    format: 1,
    id,
    takenAt: new Date(0).toISOString(),
    release: '0.0.0',
    sealer: 'plain',
    secretKeyFingerprint: null,
    migrations: [],
    tables: [],
    rows: [],
    blobs: { count: 0, bytes: 0, parts: [{ list: object, objects: object }], missing: [] },
  };
  mkdirSync(join(folder, folderOf(id)), { recursive: true });
  writeFileSync(join(folder, manifestOf(id)), manifestBytes(manifest));
  execFileSync('mkfifo', [join(folder, object.name)]);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`what \`backup verify\` has restored is gone after ${signal}`, async (t) => {
    const parent = mkdtempSync(join(tmpdir(), 'interrupted-'));
    t.teardown(() => rmSync(parent, { recursive: true }));
    const backups = join(parent, 'backups');
    const scratch = join(parent, 'scratch');
    mkdirSync(scratch);
    endlessBackup(backups);
    const child = spawn(
      process.execPath,
      [...runs('cli/main.ts'), 'backup', 'verify', backups, '--scratch', scratch],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    void endWithTests(child);
    const exited = once(child, 'exit');
    await once(child.stderr, 'data');
    t.is(readdirSync(scratch).length, 1);
    child.kill(signal);
    t.deepEqual(await exited, [null, signal]);
    t.deepEqual(readdirSync(scratch), []);
  });
}

test('a session at the other server ends when a signal ends `import account`', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'interrupted-'));
  t.teardown(() => rmSync(parent, { recursive: true }));
  const paths: string[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    '/v2/login-params': { identifier: 'ada@example.org', version: '004', pw_nonce: 'b'.repeat(64) },
    '/v2/login': { session: { access_token: 'token' }, user: { uuid: crypto.randomUUID() } },
  };
  const server = createServer(({ url = '' }, response) => {
    paths.push(url);
    response.end(JSON.stringify(answers[url] ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  // Once it is signed in over there, the command asks a node here about the account. This node never answers.
  const node = createTcpServer().listen(0, '127.0.0.1');
  await once(node, 'listening');
  t.teardown(() => node.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const address = `127.0.0.1:${(node.address() as AddressInfo).port}`;
  const args = ['--address', address, 'import', 'account', '--from', url, '--email', 'ada@example.org'];
  const child = spawn(process.execPath, [...runs('cli/main.ts'), ...args], {
    env: { ...process.env, TMPDIR: parent },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  void endWithTests(child);
  const exited = once(child, 'exit');
  const asked = once(node, 'connection');
  child.stdin.end('the password\n');
  await asked;
  child.kill('SIGTERM');
  t.deepEqual(await exited, [null, 'SIGTERM']);
  t.is(paths.at(-1), '/v1/logout');
  t.deepEqual(readdirSync(parent), []);
});

test('a second signal does not wait for what the first one has interrupted', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'interrupted-'));
  t.teardown(() => rmSync(parent, { recursive: true }));
  const program = `
    import { withTemporaryFolder } from ${JSON.stringify(new URL('./temporary-folder.ts', import.meta.url).href)};
    process.once('SIGTERM', () => console.log('first'));
    await withTemporaryFolder({ prefix: 'stuck-', parent: ${JSON.stringify(parent)} }, () => {
      console.log('begun');
      return new Promise(() => setInterval(() => {}, 60_000));
    });
  `;
  const child = spawn(process.execPath, ['--import=tsx', '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  void endWithTests(child);
  t.teardown(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const first = once(child.stdout, 'data');
  child.kill('SIGTERM');
  await first;
  t.is(readdirSync(parent).length, 1);
  child.kill('SIGTERM');
  t.deepEqual(await exited, [null, 'SIGTERM']);
  t.deepEqual(readdirSync(parent), []);
});

test('signals do what they did before, once the folder is gone', async (t) => {
  const before = process.listenerCount('SIGINT');
  await withTemporaryFolder({ prefix }, async () => t.is(process.listenerCount('SIGINT'), before + 1));
  await t.throwsAsync(
    withTemporaryFolder({ prefix }, () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  );
  t.is(process.listenerCount('SIGINT'), before);
});
