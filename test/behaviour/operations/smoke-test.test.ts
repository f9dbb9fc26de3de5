/** `scriptorium smoke-test`: the faults that it finds in a server, and in a proxy in front of one. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { operate, runTyped } from '../../kit/operator.ts';
import { startServer } from '../../kit/server.ts';
import { type RunningServer, startServer as startProcess } from '../../kit/started-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'scriptorium-smoke-test-'));
const keyFile = join(folder, 'access-key');
let server: RunningServer;

test.before(async () => {
  writeFileSync(keyFile, 'sesame\n');
  server = await startProcess({ SHARED_SERVER_ACCESS_KEY: 'sesame', DISABLE_USER_REGISTRATION: 'false' });
});
test.after.always(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server?.stop();
});

/** The command as typed, in real time. It asks no node of the internal API. */
const run = (...args: readonly string[]) => runTyped(['smoke-test', ...args], { address: '127.0.0.1:1' });
const withKey = ['--access-key-file', keyFile];

const passedHeaders = ['authorization', 'content-type', 'x-server-password', 'x-shared-server-key'];

/** A proxy in front of the server that does not know sockets, and the requests that it has passed on. */
async function startProxy(t: ExecutionContext, onUpgrade?: (proxy: Server) => void) {
  const passed: string[] = [];
  const proxy = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const body = Buffer.concat(await request.toArray());
    const answer = await fetch(server.url + path, {
      method,
      headers: Object.entries(headers)
        .filter(([name]) => passedHeaders.includes(name))
        .map(([name, value]) => [name, String(value)] as [string, string]),
      ...(body.length > 0 && { body }),
    });
    passed.push(`${method} ${path.replace(/[0-9a-f-]{36}|\?.*/g, '…')} ${answer.status}`);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
  onUpgrade?.(proxy);
  await new Promise<void>((fulfil) => proxy.listen(0, '127.0.0.1', fulfil));
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, passed };
}

const stepsOf = (err: string) =>
  err
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ \(\d+ ms\)$/, ''));

test('a server that does what clients need passes, and keeps no account', async (t) => {
  const { url, passed } = await startProxy(t, passUpgrades);
  const { code, out, err } = await run(url, ...withKey);
  t.deepEqual(stepsOf(err), [
    'ok    register an account',
    'ok    sign in on a second device',
    'ok    open its socket',
    'ok    save a note on the first device',
    'ok    hear of it on the second one',
    'ok    get it on the second one',
    'ok    delete the account',
  ]);
  t.is(out, 'The server does what its clients need.\n');
  t.is(code, 0);
  t.is(passed.at(-1), 'DELETE /v1/users/… 200');
});

test('scripts get one document', async (t) => {
  const { code, out } = await run(server.url, ...withKey, '--json');
  t.is(code, 0);
  const { passed, steps } = JSON.parse(out);
  t.true(passed);
  t.is(steps.length, 7);
  for (const { ms } of steps) t.true(Number.isInteger(ms));
});

test('a server whose registration is closed fails, in its own words', async (t) => {
  const closed = await startServer(t, { accounts: { registrationDisabled: true } });
  const { code, err } = await operate({ address: '127.0.0.1:1', server: closed }, 'smoke-test', closed.url);
  t.is(code, 1);
  t.regex(err, /^FAILED to register an account: POST \/v1\/users was answered 400: .+\.\n$/);
});

test('without the access key that clients need the test fails, and without its file it does not begin', async (t) => {
  const without = await run(server.url);
  t.is(without.code, 1);
  t.regex(without.err, /^FAILED to register an account: .* 401/);
  const missing = await run(server.url, '--access-key-file', join(folder, 'none'));
  t.is(missing.code, 64);
  t.regex(missing.err, /^--access-key-file cannot be read/);
});

test('a proxy that lets no WebSocket pass is found, and the account is deleted all the same', async (t) => {
  const { url, passed } = await startProxy(t);
  const { code, err } = await run(url, ...withKey);
  t.is(code, 1);
  t.regex(err, /FAILED to open its socket: the server answered \d+ and opened none/);
  t.is(passed.at(-1), 'DELETE /v1/users/… 200');
});

test('a socket that opens and stays silent is found', async (t) => {
  const { url, passed } = await startProxy(t, (proxy) =>
    proxy.on('upgrade', (_request, socket) => {
      t.teardown(() => socket.destroy());
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    }),
  );
  const { code, err } = await run(url, ...withKey, '--deadline-ms', '3000');
  t.is(code, 1);
  t.regex(err, /FAILED to hear of it on the second one: no frame came within 3000 ms\.\n$/);
  t.is(passed.at(-1), 'DELETE /v1/users/… 200');
});

test('a server that cannot be reached is told from one that does wrong', async (t) => {
  const away = await run('http://127.0.0.1:9');
  t.is(away.code, 69);
  t.regex(away.err, /^FAILED to register an account: http:\/\/127\.0\.0\.1:9 cannot be reached: ./);
  t.is((await run('notes.example.org')).code, 64);
});

/** Like a proxy that knows sockets. */
function passUpgrades(proxy: Server): void {
  proxy.on('upgrade', (request, socket) => {
    const { port } = new URL(server.url);
    const upstream = connect(Number(port), '127.0.0.1', () => {
      const headers = request.rawHeaders.flatMap((name, index) =>
        index % 2 === 0 ? [`${name}: ${request.rawHeaders[index + 1]}`] : [],
      );
      upstream.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    });
    upstream.pipe(socket).pipe(upstream);
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
}
