import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { CommandFailure } from '../../failure.ts';
import { HttpClient, RefusedError } from '../../http-client.ts';
import { downloadAccount } from './download.ts';

const email = 'ada@example.org';
const signingIn: Readonly<Record<string, unknown>> = {
  '/v2/login-params': { identifier: email, version: '004', pw_nonce: 'b'.repeat(64) },
  '/v2/login': { session: { access_token: 'token' }, user: { uuid: crypto.randomUUID() } },
};

async function answering(t: ExecutionContext, answerTo: (path: string) => unknown) {
  const server = createServer(({ url = '' }, response) => response.end(JSON.stringify(answerTo(url))));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}`), accessKey: undefined, deadlineMs: 10_000 };
}

async function downloaded(t: ExecutionContext, answers: Readonly<Record<string, unknown>>) {
  const address = await answering(t, (path) => ({ ...signingIn, ...answers })[path] ?? {});
  const credentials = { email, password: 'correct horse battery staple', acceptsOldProtocol: false };
  const terminal = { askSecret: async () => '', sleep: async () => undefined, nowMs: () => 1 };
  const spool = { insert: () => undefined, close: () => undefined };
  return downloadAccount({ server: address, ...credentials, withHistory: false }, spool, terminal);
}

test('a server that sends the same page again and again is refused', async (t) => {
  const refused = await t.throwsAsync(downloaded(t, { '/v1/items': { cursor_token: 'same' } }));
  t.true(refused instanceof CommandFailure);
  t.regex(refused?.message ?? '', /same page of items again and again/);
});

test('an answer that is null is refused', async (t) => {
  const http = new HttpClient(await answering(t, () => null));
  await t.throwsAsync(http.ask('GET', '/v1/meta'), { instanceOf: RefusedError });
});
