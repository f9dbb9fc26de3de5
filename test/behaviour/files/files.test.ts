/** Files over HTTP, as clients use them (docs/protocol/files.md). */
import test from 'ava';
import type { FileStore } from '../../../actors/files/store.ts';
import { tokensOf } from '../../kit/account.ts';
import { Device } from '../../kit/device.ts';
import { createMemoryFileStore } from '../../kit/file-store.ts';
import { ciphertext, fileCall, RemoteFile, usedBytes } from '../../kit/files.ts';
import { startServer } from '../../kit/server.ts';

test('a file that was uploaded in chunks is downloaded as it was', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const chunks = [ciphertext(70_000), ciphertext(50_017), ciphertext(18)];
  const file = new RemoteFile(device);
  await file.upload(...chunks);
  t.deepEqual(await file.download(70_000, 50_017, 18), Buffer.concat(chunks));
  t.is(await usedBytes(device), 70_000 + 50_017 + 18);
  t.deepEqual(await file.on(await server.device()).download(120_035), Buffer.concat(chunks));
});

test('answers have the fields that clients look for', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const file = new RemoteFile(device);
  const minted = await file.askForToken('write', 100);
  t.deepEqual(Object.keys(minted.body).sort(), ['success', 'valetToken']);
  t.is(minted.meta?.auth.userUuid, device.account.userUuid);
  const token = minted.body.valetToken;
  const opened = await file.open(token);
  t.true(opened.body.success);
  t.regex(opened.body.uploadId, /^[0-9a-f-]{36}$/);
  const stored = await file.chunk(token, 1, ciphertext(117));
  t.deepEqual(Object.keys(stored.body), ['success', 'message']);
  t.deepEqual(Object.keys((await file.close(token)).body), ['success', 'message']);

  const read = await file.read(await file.token('read'), 'bytes=0-', 100);
  t.is(read.status, 206);
  t.is(read.headers.get('content-range'), 'bytes 0-99/117');
  t.is(read.headers.get('accept-ranges'), 'bytes');
  t.is(read.headers.get('content-length'), '100');
  t.is(read.headers.get('content-type'), 'application/octet-stream');
  t.is(read.headers.get('cache-control'), 'no-store');
  t.deepEqual(Object.keys((await file.remove()).body), ['success', 'message']);
});

test('a web client of another origin may send its headers and read the range', async (t) => {
  const server = await startServer(t);
  const origin = 'https://app.example';
  const headerNames = 'x-valet-token,x-chunk-id,x-chunk-size,range,x-snjs-version,content-type';
  const preflight = await fetch(`${server.url}/v1/files`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': headerNames,
    },
  });
  t.is(preflight.status, 204);
  t.is(preflight.headers.get('access-control-allow-headers'), headerNames);
  t.is(preflight.headers.get('access-control-allow-credentials'), 'true');
  const answer = await fileCall(server.url, 'GET', '/v1/files', 'none', { headers: { origin } });
  t.regex(answer.headers.get('access-control-expose-headers') ?? '', /Content-Range, Accept-Ranges/);
});

test('files are also where clients look that were told of a files server, slash or not', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const file = new RemoteFile(device);
  const token = await file.token('write', 4);
  for (const path of ['create-session', 'chunk', 'close-session']) {
    const call = { headers: { 'x-chunk-id': '1' }, ...(path === 'chunk' && { body: 'four' }) };
    t.is((await fileCall(server.url, 'POST', `/files/v1/files/upload/${path}/`, token, call)).status, 200);
  }
  const read = await file.token('read');
  const call = { headers: { range: 'bytes=0-' } };
  t.is((await fileCall(server.url, 'GET', '/files/v1/files/', read, call)).bytes.toString(), 'four');
});

test('chunks may come in any order and again; the last of a number counts', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 1_000);
  await file.open(token);
  const [one, two, three] = [ciphertext(117), ciphertext(217), ciphertext(317)];
  for (const [number, chunk] of [
    [3, three],
    [2, ciphertext(200)],
    [1, one],
    [2, two],
  ] as const) {
    t.is((await file.chunk(token, number, chunk)).status, 200);
  }
  t.is((await file.close(token)).status, 200);
  t.deepEqual(await file.download(651), Buffer.concat([one, two, three]));
  t.is(await usedBytes(file.device), 651);
  await server.advance(1_000);
  t.is(server.files.blobs.size, 3);
});

test('a file of no plain bytes, and one whose last chunk is small, can be uploaded', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const empty = new RemoteFile(device);
  await empty.upload(ciphertext(17));
  t.is((await empty.download(17)).length, 17);
  const long = new RemoteFile(device);
  await long.upload(...Array.from({ length: 12 }, () => ciphertext(1_017)), ciphertext(18));
  t.is((await long.download(12 * 1_017 + 18)).length, 12 * 1_017 + 18);
});

test('an upload is not closed with a gap, without a chunk or without a session', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 1_000);
  t.is((await file.chunk(token, 1, ciphertext(10))).status, 400);
  t.is((await file.close(token)).status, 400);
  await file.open(token);
  t.is((await file.close(token)).status, 400);
  await file.chunk(token, 1, ciphertext(10));
  await file.chunk(token, 3, ciphertext(10));
  const gap = await file.close(token);
  t.is(gap.status, 400);
  t.is(gap.body.error.message, 'Chunks of this file are missing.');
  await file.chunk(token, 2, ciphertext(10));
  t.is((await file.close(token)).status, 200);
});

test('a body that is no chunk is refused', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 1_000);
  await file.open(token);
  for (const number of ['0', '-1', '1.5', 'one', '4001', '99999999999999']) {
    t.is((await file.chunk(token, number, ciphertext(10))).status, 400, number);
  }
  t.is((await file.call('POST', '/upload/chunk', token, { body: 'bytes' })).status, 400);
  t.is((await file.chunk(token, 1, ciphertext(0))).status, 400);
  const unsaid = new ReadableStream({
    start(controller) {
      controller.enqueue(ciphertext(10));
      controller.close();
    },
  });
  const headers = { 'x-chunk-id': '1' };
  t.is((await file.call('POST', '/upload/chunk', token, { headers, body: unsaid })).status, 411);
  t.is(server.files.blobs.size, 0);
});

test('no more comes than the file was said to hold', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 100_000);
  await file.open(token);
  t.is((await file.chunk(token, 1, ciphertext(110_000))).status, 400);
  t.is((await file.chunk(token, 1, ciphertext(100_017))).status, 200);
  t.is((await file.chunk(token, 2, ciphertext(10_000))).status, 400);
  t.is(server.files.blobs.size, 1);
});

test('a file that is uploaded again is replaced at once, and its old chunks go', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const old = ciphertext(2_000);
  await file.upload(old, ciphertext(50));
  const next = ciphertext(500);
  const token = await file.uploadAllBut(next);
  t.deepEqual(await file.download(2_000), old);
  t.is((await file.close(token)).status, 200);
  t.deepEqual(await file.download(500), next);
  t.is(await usedBytes(file.device), 500);
  await server.advance(1_000);
  t.deepEqual([...server.files.blobs.values()], [next]);
});

test('a second session for a file begins it anew', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.uploadAllBut(ciphertext(100), ciphertext(100));
  await file.open(token);
  t.is((await file.close(token)).status, 400);
  await file.chunk(token, 1, ciphertext(60));
  t.is((await file.close(token)).status, 200);
  await server.advance(1_000);
  t.is(server.files.blobs.size, 1);
});

test('bytes of an upload make room for the one that begins it anew', async (t) => {
  const server = await startServer(t, { files: { accountBytesMax: 1_000 } });
  const file = new RemoteFile(await server.device());
  await file.uploadAllBut(ciphertext(500), ciphertext(200));
  await file.upload(ciphertext(900));
  t.is(await usedBytes(file.device), 900);
});

test('a close whose answer was lost is answered as done when it is repeated', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.uploadAllBut(ciphertext(100));
  t.is((await file.close(token)).status, 200);
  t.is((await file.close(token)).status, 200);
  t.is(await usedBytes(file.device), 100);
  t.is((await file.open(token)).status, 403);
  t.is((await file.chunk(token, 1, ciphertext(10))).status, 403);
});

test('an upload that is not closed within two hours is gone, with what it stored', async (t) => {
  const server = await startServer(t, { files: { valetTokenAgeMs: 20_000_000 } });
  const file = new RemoteFile(await server.device());
  const token = await file.uploadAllBut(ciphertext(100), ciphertext(200));
  t.is(server.files.blobs.size, 2);
  await server.advance(7_201_000);
  t.is((await file.close(token)).status, 400);
  t.is(server.files.blobs.size, 0);
  t.is(await usedBytes(file.device), 0);
});

test('a deleted file is gone, with its chunks and its bytes', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(1_000), ciphertext(1_000));
  const reading = await file.token('read');
  t.is((await file.remove()).status, 200);
  t.is(await usedBytes(file.device), 0);
  t.is((await file.read(reading, 'bytes=0-')).status, 404);
  const again = await file.remove();
  t.is(again.status, 400);
  t.is(again.body.error.message, 'There is no such file.');
  await server.advance(1_000);
  t.is(server.files.blobs.size, 0);
});

test('ranges are what HTTP says they are', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const bytes = ciphertext(1_000);
  await file.upload(bytes.subarray(0, 300), bytes.subarray(300, 301), bytes.subarray(301));
  const token = await file.token('read');
  const part = await file.read(token, 'bytes=299-301');
  t.deepEqual(part.bytes, bytes.subarray(299, 302));
  t.is(part.headers.get('content-range'), 'bytes 299-301/1000');
  const beyond = await file.read(token, 'bytes=1000-');
  t.is(beyond.status, 416);
  t.is(beyond.headers.get('content-range'), 'bytes */1000');
  for (const range of ['bytes=5-4', 'bytes=a-', 'bytes=0-1,4-5', 'bytes=', 'items=0-']) {
    t.is((await file.read(token, range)).status, 400, range);
  }
  t.is((await file.call('GET', '', token)).status, 400);
  const noSize = { range: 'bytes=0-', 'x-chunk-size': 'many' };
  t.is((await file.call('GET', '', token, { headers: noSize })).status, 400);
  t.deepEqual((await file.read(token, 'bytes=-10')).bytes, bytes.subarray(990));
});

test('a token that has read the last byte is spent, and two of one moment are not the same', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100));
  const tokens = await Promise.all([file.token('read'), file.token('read')]);
  t.not(tokens[0], tokens[1]);
  for (const token of tokens) {
    t.is((await file.read(token, 'bytes=0-', 50)).status, 206);
    t.is((await file.read(token, 'bytes=50-', 50)).status, 206);
    const again = await file.read(token, 'bytes=0-', 50);
    t.is(again.status, 403);
    t.is(again.body.error.tag, 'invalid-auth');
  }
});

test('a token is asked for with what it needs', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const ask = (body: object) => device.call('POST', '/v1/files/valet-tokens', { body });
  const remoteIdentifier = crypto.randomUUID();
  const withoutSize = await ask({ operation: 'write', resources: [{ remoteIdentifier }] });
  t.is(withoutSize.status, 403);
  const { error, ...rest } = withoutSize.body;
  t.deepEqual(rest, { success: false, reason: 'invalid-parameters' });
  t.regex(error.message, /unencryptedFileSize/);
  const noUuid = await ask({ operation: 'read', resources: [{ remoteIdentifier: '../../etc/passwd' }] });
  t.is(noUuid.status, 400);
  t.is(noUuid.body.error.tag, 'invalid-parameters');
  for (const body of [
    { operation: 'move', resources: [{ remoteIdentifier }] },
    { operation: 'read' },
    { operation: 'read', resources: [] },
    { operation: 'write', resources: [{ remoteIdentifier, unencryptedFileSize: -1 }] },
    { operation: 'write', resources: [{ remoteIdentifier, unencryptedFileSize: '5' }] },
  ]) {
    t.is((await ask(body)).status, 400);
  }
  t.is((await ask({ operation: 'read', resources: [{ remoteIdentifier }] })).status, 200);
});

test('a bridge that may only read reads files and changes none, and one that may write changes them', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const file = new RemoteFile(device);
  await file.upload(ciphertext(100));
  const keys = { wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  for (const [scope, status] of [
    ['read', 403],
    ['write', 200],
  ] as const) {
    const made = await device.call('POST', '/v1/mcp-tokens', { body: { label: 'b', scope, ...keys } });
    const { token } = made.body;
    const opened = await server.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
    const bridge = file.on(new Device(server, { ...device.account, ...tokensOf(opened) }));
    t.is((await bridge.download(100)).length, 100);
    for (const operation of ['write', 'delete'] as const) {
      const answer = await bridge.askForToken(operation, 10);
      t.is(answer.status, status);
      if (status === 403) t.is(answer.body.error.tag, 'read-only-access');
    }
  }
});

test('the quota is told and kept', async (t) => {
  const server = await startServer(t, { files: { accountBytesMax: 1_000, fileBytesMax: 900 } });
  const device = await server.device();
  const path = `/v1/users/${device.account.userUuid}/subscription-settings/FILE_UPLOAD_BYTES_LIMIT`;
  t.is((await device.call('GET', path)).body.setting.value, '1000');
  const large = new RemoteFile(device);
  t.is((await large.open(await large.token('write', 901))).status, 413);
  const first = new RemoteFile(device);
  await first.upload(ciphertext(600));
  const second = new RemoteFile(device);
  const refused = await second.open(await second.token('write', 384));
  t.is(refused.status, 403);
  t.is(refused.body.error.tag, 'no-space');
  await second.upload(ciphertext(400));
  t.is(await usedBytes(device), 1_000);
  await first.remove();
  await new RemoteFile(device).upload(ciphertext(600));
  t.is(await usedBytes(device), 1_000);
});

test('when the store is full or away the client is told, and nothing is held against it', async (t) => {
  const server = await startServer(t, { files: { accountBytesMax: 1_000 } });
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 900);
  await file.open(token);
  server.files.failWith('full');
  const full = await file.chunk(token, 1, ciphertext(900));
  t.is(full.status, 507);
  t.is(full.body.error.message, 'The server has no room for more files at the moment.');
  server.files.failWith('unavailable');
  const away = await file.chunk(token, 1, ciphertext(900));
  t.is(away.status, 503);
  t.truthy(away.headers.get('retry-after'));
  server.files.failWith(undefined);
  t.is((await file.chunk(token, 1, ciphertext(900))).status, 200);
  t.is((await file.close(token)).status, 200);
  server.files.failWith('unavailable');
  t.is((await file.read(await file.token('read'), 'bytes=0-')).status, 503);
  server.files.failWith(undefined);
  t.is((await file.download(900)).length, 900);
});

test('a download that the store could not begin is asked for again with the same token', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const content = ciphertext(900);
  await file.upload(content);
  const token = await file.token('read');
  server.files.failWith('unavailable');
  t.is((await file.read(token, 'bytes=0-')).status, 503);
  server.files.failWith(undefined);
  const read = await file.read(token, 'bytes=0-');
  t.deepEqual([read.status, read.bytes], [206, content]);
  t.is((await file.read(token, 'bytes=0-')).status, 403);
});

test('a blob that the store could not remove is removed later', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100), ciphertext(100));
  server.files.failWith('unavailable');
  t.is((await file.remove()).status, 200);
  await server.advance(1_000_000);
  await server.restart();
  server.files.failWith(undefined);
  t.is(server.files.blobs.size, 2);
  await server.advance(400_000);
  t.is(server.files.blobs.size, 0);
});

test('a deleted account leaves no file, nor a chunk of an upload', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const files = Array.from({ length: 12 }, () => new RemoteFile(device));
  for (const file of files) await file.upload(ciphertext(20));
  const open = await new RemoteFile(device).uploadAllBut(ciphertext(20));
  const reading = await new RemoteFile(device).token('read');
  const { userUuid, password } = device.account;
  const headers = { 'x-server-password': password };
  t.is((await device.call('DELETE', `/v1/users/${userUuid}`, { headers })).status, 200);
  t.is((await files[0]?.close(open))?.status, 403);
  t.is((await files[0]?.read(reading, 'bytes=0-'))?.status, 403);
  await server.advance(120_000);
  t.is(server.files.blobs.size, 0);
  t.is((await files[0]?.close(open))?.status, 403);
});

test('a file that is deleted while its download begins is not found; bytes that are lost are an error', async (t) => {
  const blobs = createMemoryFileStore();
  let beforeRead = async () => {};
  async function* read(...args: Parameters<FileStore['read']>) {
    await beforeRead();
    yield* blobs.read(...args);
  }
  const server = await startServer(t, { fileStore: { ...blobs, read } });
  const device = await server.device();
  const loseBytes = () => {
    for (const name of blobs.blobs.keys()) blobs.cut(name);
  };
  for (const range of ['bytes=0-', 'bytes=0-99']) {
    const file = new RemoteFile(device);
    await file.upload(ciphertext(500));
    const token = await file.token('read');
    beforeRead = async () => {
      t.is((await file.remove()).status, 200);
      loseBytes();
    };
    t.is((await file.read(token, range)).status, 404, range);
    beforeRead = async () => {};
  }
  const lost = new RemoteFile(device);
  await lost.upload(ciphertext(500));
  loseBytes();
  t.is((await lost.read(await lost.token('read'), 'bytes=0-')).status, 500);
});
