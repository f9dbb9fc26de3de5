import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import test, { type ExecutionContext } from 'ava';
import { DialError } from '../../../runtime/transport/nats/dial.ts';
import { createAuthority } from '../../kit/certificates.ts';
import { type NatsServerOptions, startNatsServer } from '../../kit/nats-server.ts';
import { call, echo, type ProcessOptions, startProcess } from '../../kit/transport-process.ts';

const folder = await mkdtemp(join(tmpdir(), 'scriptorium-nats-start-'));
test.after.always(() => rm(folder, { recursive: true, force: true }));

async function server(t: ExecutionContext, options: NatsServerOptions) {
  const started = await startNatsServer({ jetStream: false, ...options });
  t.teardown(() => started.stop());
  return started;
}

async function fileWith(name: string, text: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** Whether two processes that were started like this reach each other. */
async function isWorking(t: ExecutionContext, url: string, options: ProcessOptions): Promise<boolean> {
  await startProcess(t, url, { ...options, answer: echo });
  const caller = await startProcess(t, url, options);
  return (await caller.transport.ask(call('hello'))) === 'hello';
}

const rejection = (t: ExecutionContext, url: string, options: ProcessOptions = {}): Promise<DialError> =>
  t.throwsAsync(startProcess(t, url, options), { instanceOf: DialError });

test('the name and password in the address are accepted, and wrong ones are refused at once without being shown', async (t) => {
  const { url } = await server(t, { config: 'authorization { user: "the user", password: "p@ss" }' });
  t.true(await isWorking(t, url.replace('//', '//the%20user:p%40ss@'), {}));
  const startedMs = performance.now();
  const error = await rejection(t, url.replace('//', '//the%20user:wr%40ng@'));
  t.regex(error.message, /127\.0\.0\.1:\d+: it refuses the credentials/);
  t.notRegex(error.message, /the.*user:|wr.*ng@|p@ss/);
  t.true(performance.now() - startedMs < 5_000);
  await rejection(t, url);
});

test('the token in the address is accepted', async (t) => {
  const { url } = await server(t, { config: 'authorization { token: "t0ken" }' });
  t.true(await isWorking(t, url.replace('//', '//t0ken@'), {}));
  await rejection(t, url.replace('//', '//other@'));
});

test('a seed in a file is accepted, and another seed, or a file without one, is not', async (t) => {
  const key = nkeys.createUser();
  const { url } = await server(t, { config: `authorization { users: [{ nkey: ${key.getPublicKey()} }] }` });
  const access = async (name: string, content: string | Uint8Array) => ({
    access: { servers: [url], credentialsFile: await fileWith(name, content) },
  });
  t.true(await isWorking(t, url, await access('right', key.getSeed())));
  t.regex((await rejection(t, url, await access('wrong', nkeys.createUser().getSeed()))).message, /refuses/);
  t.regex((await rejection(t, url, await access('empty', 'nothing'))).message, /contains none/);
  const missing = { access: { servers: [url], credentialsFile: join(folder, 'missing') } };
  t.regex((await rejection(t, url, missing)).message, /cannot be read/);
});

test('where no server answers, the start ends in time with a message that holds no password', async (t) => {
  const { url, kill } = await server(t, {});
  await kill();
  const startedMs = performance.now();
  const error = await rejection(t, url.replace('//', '//user:secret@'), { connectTimeoutMs: 1_000 });
  t.regex(error.message, /127\.0\.0\.1:\d+: connection refused/);
  t.notRegex(error.message, /user|secret/);
  t.true(performance.now() - startedMs < 5_000);
});

test('a server that comes up while a process starts is waited for', async (t) => {
  const late = await server(t, {});
  await late.kill();
  const starting = startProcess(t, late.url);
  await late.start();
  t.true((await starting).transport.isConnected);
});

test('an address that cannot be parsed is reported without repeating it', async (t) => {
  const error = await rejection(t, 'nats://user:secret@host:notaport');
  t.notRegex(error.message, /secret/);
});

test('a server whose messages are too small is refused by name of what is wrong', async (t) => {
  const { url } = await server(t, { config: 'max_payload: 64KB' });
  t.regex((await rejection(t, url)).message, /65536 bytes/);
});

test('TLS: servers that are vouched for and clients that show a certificate', async (t) => {
  const authority = createAuthority();
  const other = createAuthority();
  t.teardown(authority.remove);
  t.teardown(other.remove);
  const { cert, key } = authority.issue('server');
  const tls = `tls { cert_file: "${cert}", key_file: "${key}", ca_file: "${authority.ca}", verify: true }`;
  const { url } = await server(t, { config: tls });
  const client = authority.issue('client');
  const files = { certFile: client.cert, keyFile: client.key };
  const access = (caFile: string, more = {}) => ({ access: { servers: [url], caFile, ...more } });
  t.true(await isWorking(t, url, access(authority.ca, files)));
  await rejection(t, url, { ...access(other.ca, files), connectTimeoutMs: 500 });
  await rejection(t, url, { ...access(authority.ca), connectTimeoutMs: 500 });
});

test('an address that asks for TLS is not used without it', async (t) => {
  const { url } = await server(t, {});
  t.regex(
    (await rejection(t, url.replace('nats:', 'tls:'), { connectTimeoutMs: 500 })).message,
    /does not support 'tls'/,
  );
});
