/** Holders of a valet token who want more than it allows, and users who fill the store. */
import test from 'ava';
import { isBlobName } from '../../actors/files/store.ts';
import type { ValetClaims } from '../../actors/identity/valet-tokens.ts';
import { createValetTokens } from '../../actors/identity/valet-tokens.ts';
import { Files } from '../../actors/user/files/contract.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { systemRandom } from '../../runtime/random.ts';
import { bob } from '../kit/account.ts';
import { ciphertext, RemoteFile, usedBytes } from '../kit/files.ts';
import { startServer, type TestServer, valetTokens } from '../kit/server.ts';

const claimsOf = (token: string) => valetTokens.verify(token) as ValetClaims;
const askOf = (server: TestServer, { device }: RemoteFile) =>
  server.host.actors.get(Files, device.account.userUuid).ask;

test('a token that was altered anywhere, or made elsewhere, opens nothing and asks nobody', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100));
  const token = await file.token('read');
  const elsewhere = createValetTokens(createKeyring(Buffer.alloc(32, 9)), systemRandom);
  const forged = elsewhere.mint(claimsOf(token));
  const altered = Array.from({ length: token.length }, (_, at) => {
    const other = token[at] === 'A' ? 'B' : 'A';
    return token.slice(0, at) + other + token.slice(at + 1);
  });
  server.transport.commands.length = 0;
  for (const wrong of [...altered.filter((_, at) => at % 7 === 0), forged, '', '.', `${token}A`]) {
    const answer = await file.read(wrong, 'bytes=0-');
    t.is(answer.status, 403);
    t.is(answer.body.error.tag, 'invalid-auth');
  }
  t.deepEqual(server.transport.commands, []);
  t.is((await file.read(token, 'bytes=0-')).status, 206);
});

test('a token ends when it says, and before a body of its request is read', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.uploadAllBut(ciphertext(100));
  await server.advance(7_200_000);
  server.transport.commands.length = 0;
  t.is((await file.chunk(token, 2, ciphertext(1_000_000))).status, 403);
  t.is((await file.close(token)).status, 403);
  t.deepEqual(server.transport.commands, []);
});

test('a token does one thing alone', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100));
  for (const operation of ['read', 'write', 'delete'] as const) {
    const token = await file.token(operation, 10);
    const others = {
      read: () => file.read(token, 'bytes=0-'),
      write: () => file.open(token),
      delete: () => file.call('DELETE', '', token),
    };
    for (const [other, call] of Object.entries(others)) {
      if (other !== operation) t.is((await call()).status, 400, `${operation} as ${other}`);
    }
    if (operation === 'write') continue;
    for (const path of ['create-session', 'chunk', 'close-session']) {
      const call = { headers: { 'x-chunk-id': '1' }, body: 'bytes' };
      t.is((await file.call('POST', `/upload/${path}`, token, call)).status, 400, `${operation} as ${path}`);
    }
  }
  t.is((await file.download(100)).length, 100);
});

test('a token dies with its session, whatever it was doing', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100));
  const phone = file.on(await file.device.another());
  const tokens = { read: await phone.token('read'), delete: await phone.token('delete') };
  const uploading = new RemoteFile(phone.device);
  const upload = await uploading.uploadAllBut(ciphertext(50));
  const path = `/v1/sessions/${await phone.device.sessionUuid()}`;
  t.is((await file.device.call('DELETE', path)).status, 204);
  t.is((await phone.read(tokens.read, 'bytes=0-')).status, 403);
  t.is((await phone.call('DELETE', '', tokens.delete)).status, 403);
  t.is((await uploading.chunk(upload, 2, ciphertext(10))).status, 403);
  t.is((await uploading.close(upload)).status, 403);
  t.is((await uploading.open(upload)).status, 403);
  t.is((await file.download(100)).length, 100);
  t.is(await usedBytes(file.device), 100);
});

test('a session that may only read from now on writes no more, whatever tokens it has', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100));
  const [upload, deletion] = [await file.uploadAllBut(ciphertext(50)), await file.token('delete')];
  await server.restart({ accounts: { readonlyUsers: new Set([file.device.account.email]) } });
  const closed = await file.close(upload);
  t.is(closed.status, 403);
  t.is(closed.body.error.tag, 'read-only-access');
  t.is((await file.call('DELETE', '', deletion)).status, 403);
  t.is((await file.download(100)).length, 100);
});

test('a spent token deletes and replaces nothing that came later', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const upload = await file.uploadAllBut(ciphertext(100));
  t.is((await file.close(upload)).status, 200);
  const deletion = await file.token('delete');
  t.is((await file.call('DELETE', '', deletion)).status, 200);
  t.is((await file.call('DELETE', '', deletion)).status, 200);
  const later = ciphertext(70);
  await file.upload(later);
  t.is((await file.call('DELETE', '', deletion)).status, 403);
  t.is((await file.close(upload)).status, 200);
  t.is((await file.open(upload)).status, 403);
  t.deepEqual(await file.download(70), later);
});

test('nobody reaches the file of another by its identifier', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const bytes = ciphertext(100);
  await file.upload(bytes);
  const other = file.on(await server.device(bob.email));
  t.is((await other.read(await other.token('read'), 'bytes=0-')).status, 404);
  t.is((await other.remove()).status, 400);
  await other.upload(ciphertext(60));
  t.deepEqual(await file.download(100), bytes);
  const claims = claimsOf(await other.token('read'));
  t.is(
    ((await askOf(server, file).openFile({ claims })) as { refused?: { reason: string } }).refused?.reason,
    'forbidden',
  );
});

test('identifiers become no paths, and one identifier is one file however it is written', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const uuid = crypto.randomUUID();
  for (const identifier of [
    '../x',
    `${uuid}/..`,
    `${uuid}\u0000`,
    `/${uuid}`,
    '',
    uuid.replaceAll('-', ''),
  ]) {
    t.is((await new RemoteFile(device, identifier).askForToken('write', 1)).status, 400, identifier);
  }
  await new RemoteFile(device, uuid.toUpperCase()).upload(ciphertext(30));
  t.is((await new RemoteFile(device, uuid).download(30)).length, 30);
  const { userUuid } = device.account;
  for (const name of server.files.blobs.keys()) {
    t.true(isBlobName(name));
    t.true(name.startsWith(`${userUuid}/`));
  }
});

test('a file of many small chunks, each a file of the store, is not made', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 1_000);
  await file.open(token);
  for (let number = 1; number <= 64; number += 1) await file.chunk(token, number, ciphertext(1));
  t.is((await file.chunk(token, 65, ciphertext(1))).status, 200);
  const refused = await file.close(token);
  t.is(refused.status, 400);
  t.is(refused.body.error.message, 'These are more chunks than a file of this size may have.');
});

test('uploads and chunks that nobody finishes have a bound', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const ask = askOf(server, file);
  const begin = async (token: string, number: number) =>
    ask.beginChunk({
      claims: claimsOf(token),
      number,
      bytes: 1,
      nonce: number.toString(16).padStart(16, '0'),
    });
  const token = await file.token('write', 1_000);
  await file.open(token);
  for (let number = 1; number <= 16; number += 1) t.true('ok' in (await begin(token, number)));
  t.like(await begin(token, 17), { refused: { reason: 'too-many' } });
  for (let index = 1; index < 64; index += 1) {
    const other = new RemoteFile(file.device);
    t.is((await other.open(await other.token('write', 1))).status, 200);
  }
  const oneMore = new RemoteFile(file.device);
  const refused = await oneMore.open(await oneMore.token('write', 1));
  t.is(refused.status, 429);
  t.truthy(refused.headers.get('retry-after'));
  await server.advance(600_000);
  t.true('ok' in (await begin(token, 17)));
});

test('bytes that uploads hold count, so an account never takes more of the store than its quota', async (t) => {
  const server = await startServer(t, { files: { accountBytesMax: 1_000 } });
  const device = await server.device();
  const files = Array.from({ length: 8 }, () => new RemoteFile(device));
  const tokens = await Promise.all(files.map((file) => file.token('write', 400)));
  await Promise.all(files.map((file, index) => file.open(tokens[index] ?? '')));
  const stored = await Promise.all(
    files.map((file, index) => file.chunk(tokens[index] ?? '', 1, ciphertext(417))),
  );
  t.is(stored.filter(({ status }) => status === 200).length, 2);
  t.true(stored.every(({ status, body }) => status === 200 || body.error.tag === 'no-space'));
  t.is(server.files.blobs.size, 2);
  const [first = files[0] as RemoteFile] = files.filter((_, index) => stored[index]?.status === 200);
  const token = tokens[files.indexOf(first)] ?? '';
  for (let again = 0; again < 20; again += 1) {
    await first.chunk(token, 1, ciphertext(417 - again));
    await server.advance(10);
  }
  t.true(server.files.blobs.size <= 2);
});

test('the blobs that the store cannot remove are bounded, however often a file is replaced, and go once they can', async (t) => {
  const server = await startServer(t, { files: { accountBytesMax: 1_000 } });
  const file = new RemoteFile(await server.device());
  const inStore = () => [...server.files.blobs.values()].reduce((sum, { length }) => sum + length, 0);
  server.files.keepAll(true);
  const replaced: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const token = await file.token('write', 450);
    await file.open(token);
    const { status } = await file.chunk(token, 1, ciphertext(450));
    replaced.push(status);
    if (status === 200) await file.close(token);
  }
  t.deepEqual(replaced, [200, 200, 200, 200, 503, 503, 503, 503]);
  t.true(inStore() <= 2_000);
  server.files.keepAll(false);
  await server.advance(400_000);
  t.is(inStore(), 450);
  await file.upload(ciphertext(500));
});

test('a chunk that could not be stored does not count among those to be removed', async (t) => {
  const server = await startServer(t, { files: { accountBytesMax: 1_000 } });
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 900);
  await file.open(token);
  server.files.failWith('unavailable');
  for (let round = 0; round < 3; round += 1) t.is((await file.chunk(token, 1, ciphertext(900))).status, 503);
  server.files.failWith(undefined);
  t.is((await file.chunk(token, 1, ciphertext(900))).status, 200);
});

test('a chunk that is stored after its upload has ended does not stay', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.token('write', 100);
  await file.open(token);
  const { write } = server.files;
  server.files.write = async (...args) => {
    // The beginning of the upload is removed, before any of it is visible.
    await file.open(token);
    await server.advance(1_000);
    await write(...args);
  };
  t.is((await file.chunk(token, 1, ciphertext(100))).status, 400);
  await server.advance(1_000);
  t.is(server.files.blobs.size, 0);
});

test('tokens that were spent are never good again, however many are', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(10));
  const ask = askOf(server, file);
  const first = await file.token('read');
  t.is((await file.read(first, 'bytes=0-')).status, 206);
  const { id: _, ...claims } = claimsOf(first);
  for (let count = 0; count < 2_100; count += 1) {
    const next = claimsOf(valetTokens.mint({ ...claims, issuedMs: claims.issuedMs + count + 1 }));
    await ask.spendOnRead({ claims: next, by: String(count) });
  }
  t.is((await file.read(first, 'bytes=0-')).status, 403);
  const untouched = valetTokens.mint({ ...claims, issuedMs: claims.issuedMs + 1 });
  t.is((await file.read(untouched, 'bytes=0-')).status, 403);
  await server.advance(5_000);
  t.is((await file.download(10)).length, 10);
});
