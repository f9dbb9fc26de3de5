import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runs } from '../test/kit/built.ts';
import { endWithTests } from '../test/kit/child.ts';
import { temporaryFolder } from '../test/kit/temporary-folder.ts';
import { folderOf, type Manifest, manifestBytes, manifestOf, sha256 } from './backup/format.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const prefix = 'scriptorium-test-';

async function serve(t: ExecutionContext, server: Server): Promise<URL> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Runs `import account`, with temporary files in `parent`, until it ends or is ended. */
function importAccount(parent: string, { from, address }: { readonly from: URL; readonly address?: string }) {
  const node = address === undefined ? [] : ['--address', address];
  const args = [...node, 'import', 'account', '--from', from.origin, '--email', 'ada@example.org'];
  const child = spawn(process.execPath, [...runs('cli/main.ts'), ...args], {
    env: { ...process.env, TMPDIR: parent },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  void endWithTests(child);
  child.stdin.end('the password\n');
  return { child, exited: once(child, 'exit') };
}

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  test(`what \`import account\` has fetched is gone after ${signal}`, async (t) => {
    const parent = temporaryFolder(t);
    // It never answers.
    const server = createServer();
    const asked = once(server, 'request');
    const { child, exited } = importAccount(parent, { from: await serve(t, server) });
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
    const parent = temporaryFolder(t);
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
  const parent = temporaryFolder(t);
  const paths: string[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    '/v2/login-params': { identifier: 'ada@example.org', version: '004', pw_nonce: 'b'.repeat(64) },
    '/v2/login': { session: { access_token: 'token' }, user: { uuid: crypto.randomUUID() } },
  };
  const server = createServer(({ url = '' }, response) => {
    paths.push(url);
    response.end(JSON.stringify(answers[url] ?? {}));
  });
  // Once it is signed in over there, the command asks a node here about the account. This node never answers.
  const node = createTcpServer();
  const asked = once(node, 'connection');
  const address = (await serve(t, node)).host;
  const { child, exited } = importAccount(parent, { from: await serve(t, server), address });
  await asked;
  child.kill('SIGTERM');
  t.deepEqual(await exited, [null, 'SIGTERM']);
  t.is(paths.at(-1), '/v1/logout');
  t.deepEqual(readdirSync(parent), []);
});

test('a second signal does not wait for what the first one has interrupted', async (t) => {
  const parent = temporaryFolder(t);
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
