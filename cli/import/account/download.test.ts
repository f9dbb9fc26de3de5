import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import type { UnlessInterrupted } from '../../../process/temporary-folder.ts';
import { CommandFailure } from '../../failure.ts';
import { HttpClient, RefusedError } from '../../http-client.ts';
import { createSpool } from '../source/spool.ts';
import { openSqlite } from '../source/sqlite.ts';
import { downloadAccount } from './download.ts';

const nowMs = Date.UTC(2026, 0, 2);
const email = 'ada@example.org';
const keyParams = { identifier: email, version: '004', pw_nonce: 'b'.repeat(64) };
const signingIn: Readonly<Record<string, unknown>> = {
  '/v2/login-params': keyParams,
  '/v2/login': { session: { access_token: 'token' }, user: { uuid: crypto.randomUUID() } },
};

async function listening(t: ExecutionContext, server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}`), accessKey: undefined, deadlineMs: 10_000 };
}

const answering = (t: ExecutionContext, answerTo: (path: string) => unknown) =>
  listening(
    t,
    createServer(({ url = '' }, response) => response.end(JSON.stringify(answerTo(url)))),
  );

const spoolBytesMax = 1_048_576;

const nothingInterrupts = <T>(work: Promise<T>): Promise<T> => work;

async function download(
  t: ExecutionContext,
  answerTo: (path: string) => unknown,
  unlessInterrupted: UnlessInterrupted = nothingInterrupts,
) {
  const server = await answering(t, (path) => answerTo(path) ?? signingIn[path] ?? {});
  const folder = mkdtempSync(join(tmpdir(), 'download-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'account.sqlite');
  const spool = await createSpool(file, spoolBytesMax);
  const credentials = { email, password: 'correct horse battery staple', acceptsOldProtocol: false };
  const terminal = { askSecret: async () => '', sleep: async () => undefined, nowMs: () => nowMs };
  const check = async () => undefined;
  const options = { server, ...credentials, withHistory: false, check, unlessInterrupted };
  return { file, done: downloadAccount(options, spool, terminal).finally(() => spool.close()) };
}

test('a server that sends the same page again and again is refused', async (t) => {
  const { done } = await download(t, (path) => (path === '/v1/items' ? { cursor_token: 'same' } : undefined));
  const refused = await t.throwsAsync(done, { instanceOf: CommandFailure });
  t.regex(refused?.message ?? '', /same page of items again and again/);
});

test('a server that sends empty pages, or the same items, without end is refused', async (t) => {
  const uuid = crypto.randomUUID();
  for (const retrieved_items of [[], [{ uuid, content: '004:text' }]]) {
    let pages = 0;
    const { done } = await download(t, (path) => {
      if (path !== '/v1/items') return undefined;
      pages += 1;
      return { retrieved_items, cursor_token: `page ${pages}` };
    });
    const refused = await t.throwsAsync(done, { instanceOf: CommandFailure });
    t.regex(refused?.message ?? '', /1000 pages without another item of the account itself/);
    t.true(pages < 2_000);
  }
});

test('an account whose server names no valid time of its creation comes as one of today', async (t) => {
  for (const created of ['9e99', '', null]) {
    const { file, done } = await download(t, (path) =>
      path === '/v2/login-params' ? { ...keyParams, created } : undefined,
    );
    await done;
    const database = await openSqlite(file);
    const rows = await database.all('SELECT created_at FROM users');
    await database.close();
    t.deepEqual(rows, [{ created_at: new Date(nowMs).toISOString() }]);
  }
});

test('a server whose items never end fills no more of the disk than is allowed', async (t) => {
  let pages = 0;
  const { file, done } = await download(t, (path) => {
    if (path !== '/v1/items') return undefined;
    pages += 1;
    const items = Array.from({ length: 150 }, () => ({ uuid: crypto.randomUUID(), content: '004:text' }));
    return { retrieved_items: items, cursor_token: `page ${pages}` };
  });
  const refused = await t.throwsAsync(done, { instanceOf: CommandFailure });
  t.regex(refused?.message ?? '', /more than 1 MiB.* Nothing was written\..* --size-max\./);
  t.true(statSync(file).size <= spoolBytesMax);
});

test('an answer that is null is refused', async (t) => {
  const http = new HttpClient(await answering(t, () => null));
  await t.throwsAsync(http.ask('GET', '/v1/meta'), { instanceOf: RefusedError });
});

test('a sign-in that a signal interrupts leaves no session behind', async (t) => {
  const asked: string[] = [];
  const interruption = new AbortController();
  const interrupted = once(interruption.signal, 'abort').then(() => {
    throw new Error('interrupted');
  });
  const { done } = await download(
    t,
    (path) => {
      asked.push(path);
      // The signal comes while the answer is on its way.
      if (path === '/v2/login') interruption.abort();
      return undefined;
    },
    (work) => Promise.race([work, interrupted]),
  );
  await t.throwsAsync(done, { message: 'interrupted' });
  t.deepEqual(asked, ['/v2/login-params', '/v2/login', '/v1/logout']);
});

function* endless() {
  for (;;) yield 'x'.repeat(1_000);
}

test('an answer that does not end is refused, and not read further', async (t) => {
  const server = createServer();
  const asked = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const http = new HttpClient(await listening(t, server), 5_000);
  const answer = http.ask('GET', '/v1/items');
  const [, response] = await asked;
  const closed = once(response, 'close');
  Readable.from(endless()).pipe(response);
  await t.throwsAsync(answer, {
    instanceOf: RefusedError,
    message: 'GET /v1/items was answered 200: more than 5000 bytes, which is too long',
  });
  await closed;
});
