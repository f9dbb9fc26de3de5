/**
 * A chunk is acknowledged before it is durable, and a file only afterwards, whatever the power or the disk does in
 * between.
 */
import test from 'ava';
import type { FileStore } from '../../actors/files/store.ts';
import type { Device } from '../kit/device.ts';
import { createMemoryFileStore } from '../kit/file-store.ts';
import { accepted, ciphertext, RemoteFile, usedBytes, VaultFile } from '../kit/files.ts';
import { startServer } from '../kit/server.ts';
import { makeVault } from '../kit/vaults.ts';

const kinds = {
  'an account': async (device: Device) => new RemoteFile(device),
  'a vault': async (device: Device) => new VaultFile(device, await makeVault(device)),
};

for (const [of, make] of Object.entries(kinds)) {
  for (const left of [undefined, 39]) {
    const what = left === undefined ? 'a chunk' : 'a part of a chunk';

    test(`the close of an upload misses ${what} that a power cut has taken, until it is sent again (${of})`, async (t) => {
      const server = await startServer(t);
      const file = await make(await server.device());
      const chunks = [ciphertext(30), ciphertext(40), ciphertext(50)];
      const token = await file.uploadAllBut(...chunks);
      const [second = ''] = [...server.files.blobs.keys()].filter((name) => name.includes('/2.'));
      server.files.cut(second, left);
      const missed = await file.close(token);
      t.is(missed.status, 400);
      t.regex(missed.body.error.message, /lost/);
      t.is((await file.read(await file.token('read'), 'bytes=0-')).status, 404);
      accepted(await file.chunk(token, 2, chunks[1] ?? Buffer.of()));
      accepted(await file.close(token));
      t.deepEqual(await file.download(120), Buffer.concat(chunks));
      t.is(await usedBytes(file.device), 120);
      await server.advance(1_000);
      t.is(server.files.blobs.size, 3);
    });
  }

  test(`while the store cannot tell that chunks are durable there is no file, and the upload stays open (${of})`, async (t) => {
    const server = await startServer(t);
    const file = await make(await server.device());
    const chunk = ciphertext(30);
    const token = await file.uploadAllBut(chunk);
    for (const failure of ['unavailable', 'full'] as const) {
      server.files.failWith(failure);
      const refused = await file.close(token);
      t.is(refused.status, 503);
      t.is(refused.headers.get('retry-after'), '5');
    }
    server.files.failWith(undefined);
    t.is((await file.read(await file.token('read'), 'bytes=0-')).status, 404);
    accepted(await file.close(token));
    t.deepEqual(await file.download(30), chunk);
  });

  test(`a chunk that comes while the close waits for the disk is durable too before the file is there (${of})`, async (t) => {
    const memory = createMemoryFileStore();
    const persisted: string[][] = [];
    let meanwhile = async () => {};
    const store: FileStore = {
      ...memory,
      async persist(blobs) {
        persisted.push(blobs.map(({ name }) => name));
        await meanwhile();
        await memory.persist(blobs);
      },
    };
    const server = await startServer(t, { fileStore: store });
    const file = await make(await server.device());
    const token = await file.uploadAllBut(ciphertext(30), ciphertext(40));
    const instead = ciphertext(35);
    meanwhile = async () => {
      meanwhile = async () => {};
      accepted(await file.chunk(token, 1, instead));
    };
    accepted(await file.close(token));
    t.is(persisted.length, 2);
    t.notDeepEqual(persisted[0], persisted[1]);
    t.deepEqual((await file.download(75)).subarray(0, 35), instead);

    const other = await make(file.device);
    const endless = await other.uploadAllBut(ciphertext(30));
    meanwhile = async () => void accepted(await other.chunk(endless, 1, ciphertext(30)));
    t.is((await other.close(endless)).status, 503);
  });

  test(`a caller who may not close an upload makes nothing durable (${of})`, async (t) => {
    const memory = createMemoryFileStore();
    let settlements = 0;
    const store: FileStore = {
      ...memory,
      async persist(blobs) {
        settlements += 1;
        await memory.persist(blobs);
      },
    };
    const server = await startServer(t, { fileStore: store });
    const file = await make(await server.device());
    const token = await file.uploadAllBut(ciphertext(30));
    t.is((await file.device.call('POST', '/v1/logout')).status, 204);
    t.is((await file.close(token)).status, 403);
    t.is(settlements, 0);
  });
}
