/**
 * The sweep of the store of files: it finds files that nobody names, and never removes one that somebody names or
 * will name.
 */
import test from 'ava';
import { ciphertext, RemoteFile } from '../kit/files.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const hourMs = 3_600_000;
const stranger = '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11';

async function plant(server: TestServer, name: string): Promise<string> {
  const body = (async function* () {
    yield Buffer.from('orphan');
  })();
  await server.files.write(name, body, {
    owner: name.slice(0, name.indexOf('/')),
    bytes: 6,
    signal: new AbortController().signal,
  });
  return name;
}

test('a blob that nothing names is removed when it is old, and files stay', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const chunks = [ciphertext(100), ciphertext(50)];
  await file.upload(...chunks);
  const [named = ''] = server.files.blobs.keys();
  const orphans = [
    await plant(server, `${stranger}/${stranger}/1.${'0'.repeat(16)}`),
    // For an existing file without any chunk yet.
    await plant(server, named.replace(/\.\w+$/, `.${'0'.repeat(16)}`)),
  ];
  await server.advance(25 * hourMs);
  t.is(server.files.blobs.size, 4);
  const young = await plant(server, `${stranger}/${stranger}/2.${'0'.repeat(16)}`);
  await server.advance(24 * hourMs);
  for (const orphan of orphans) t.false(server.files.blobs.has(orphan));
  t.true(server.files.blobs.has(young));
  t.deepEqual(await file.download(150), Buffer.concat(chunks));
  await server.advance(24 * hourMs);
  t.is(server.files.blobs.size, 2);
});

test('an upload that is open while the sweep comes by becomes a file all the same', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  await new RemoteFile(device).upload(ciphertext(10));
  await server.advance(23 * hourMs);
  const file = new RemoteFile(device);
  const token = await file.uploadAllBut(ciphertext(100));
  await server.advance(1.9 * hourMs);
  t.is((await file.chunk(token, 2, ciphertext(20))).status, 200);
  t.is((await file.close(token)).status, 200);
  for (let day = 1; day <= 3; day += 1) await server.advance(24 * hourMs);
  t.is((await file.download(120)).length, 120);
});

test('a sweep of many pages goes on where it was, also at the next host and when the store was away', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  await file.upload(ciphertext(100));
  for (let number = 1; number <= 450; number += 1) {
    await plant(server, `${stranger}/${stranger}/${number}.${'0'.repeat(16)}`);
  }
  server.files.failWith('unavailable');
  await server.advance(48 * hourMs);
  t.is(server.files.blobs.size, 451);
  await server.restart();
  server.files.failWith(undefined);
  await server.advance(hourMs);
  t.is(server.files.blobs.size, 1);
  t.is((await file.download(100)).length, 100);
});

test('one actor sweeps, however many accounts have files', async (t) => {
  const server = await startServer(t);
  for (const email of ['a@example.org', 'b@example.org', 'c@example.org']) {
    await new RemoteFile(await server.device(email)).upload(ciphertext(10));
  }
  await server.advance(5_000);
  const lists: number[] = [];
  const list = server.files.list.bind(server.files);
  server.files.list = (options) => {
    lists.push(server.clock.nowMs());
    return list(options);
  };
  await server.advance(24 * hourMs);
  t.is(lists.length, 1);
});
