/** Concurrent operations on files, lost answers and dying hosts: nothing is half there, and every byte counts once. */
import test, { type ExecutionContext } from 'ava';
import { Death } from '../kit/death.ts';
import type { Device } from '../kit/device.ts';
import { accepted, ciphertext, type FileAnswer, RemoteFile, usedBytes, VaultFile } from '../kit/files.ts';
import { startServer, type TestServer } from '../kit/server.ts';
import { makeVault } from '../kit/vaults.ts';

test('as many uploads are taken as fit when they do not fit together, and what is there counts as used', async (t) => {
  const server = await startServer(t, { files: { accountBytesMax: 1_000 } });
  const device = await server.device();
  const files = Array.from({ length: 10 }, () => new RemoteFile(device));
  const outcomes = await Promise.allSettled(
    files.map((file) => file.upload(ciphertext(150), ciphertext(150))),
  );
  const stored = outcomes.filter(({ status }) => status === 'fulfilled').length;
  t.true(stored <= 3);
  t.is(await usedBytes(device), stored * 300);
  await Promise.allSettled(files.map((file) => file.remove()));
  t.is(await usedBytes(device), 0);
});

test('one upload that is closed by many at once is one file, and counts once', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  const token = await file.uploadAllBut(ciphertext(100));
  const others = await Promise.all([1, 2, 3].map(() => file.token('write', 100)));
  const answers = await Promise.all([token, token, ...others].map((each) => file.close(each)));
  t.true(answers.some(({ status }) => status === 200));
  t.is(await usedBytes(file.device), 100);
  t.is((await file.download(100)).length, 100);
});

test('a file that is deleted while it is replaced counts as what is there in the end', async (t) => {
  const server = await startServer(t);
  const file = new RemoteFile(await server.device());
  for (let round = 0; round < 10; round += 1) {
    await file.upload(ciphertext(100));
    const token = await file.uploadAllBut(ciphertext(40));
    const [closed] = await Promise.all([file.close(token), file.remove()]);
    t.is(closed.status, 200);
    const read = await file.read(await file.token('read'), 'bytes=0-');
    t.is(await usedBytes(file.device), read.status === 206 ? read.bytes.length : 0);
  }
});

const steps = ['openUpload', 'beginChunk', 'finishChunk', 'closeUpload', 'spendOnRead', 'deleteFile'];

for (const step of steps) {
  test(`an answer to ${step} that is lost between nodes is no failure, and takes effect once`, async (t) => {
    const server = await startServer(t);
    const file = new RemoteFile(await server.device());
    const lost = server.transport.loseReplyTo(step);
    const chunks = [ciphertext(30), ciphertext(20)];
    await server.answered(file.upload(...chunks));
    t.is(await usedBytes(file.device), 50);
    t.deepEqual(await server.answered(file.download(50)), Buffer.concat(chunks));
    t.is((await server.answered(file.remove())).status, 200);
    await lost;
    t.is(await usedBytes(file.device), 0);
    await server.advance(1_000);
    t.is(server.files.blobs.size, 0);
  });
}

test('a chunk whose answer was lost stays, whether its upload was closed or its session ended before the repeat', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  const vault = await makeVault(device);
  for (const end of ['close', 'session'] as const) {
    for (const make of [(by: Device) => new RemoteFile(by), (by: Device) => new VaultFile(by, vault)]) {
      const file = make(await server.device());
      const other = file.on(device);
      const content = ciphertext(100);
      const token = await file.token('write', 100);
      await file.open(token);
      const lost = server.transport.loseReplyTo('finishChunk');
      const sent = file.chunk(token, 1, content);
      await lost;
      if (end === 'close') t.is((await file.close(token)).status, 200);
      else t.is((await file.device.call('POST', '/v1/logout')).status, 204);
      // The session check comes before the vault's, and is not repeated.
      const isAnswered = end === 'session' && file instanceof VaultFile;
      t.is((await server.answered(sent)).status, isAnswered ? 200 : 403);
      if (end === 'session') t.is((await other.close(await other.token('write', 100))).status, 200);
      await server.advance(1_000);
      t.deepEqual(await other.download(100), content);
    }
  }
});

test('the later of two attempts at a chunk counts, in whichever order their owner is told', async (t) => {
  const server = await startServer(t);
  const device = await server.device();
  for (const file of [new RemoteFile(device), new VaultFile(device, await makeVault(device))]) {
    for (const isToldBeforeTheClose of [true, false]) {
      const token = await file.token('write', 100);
      await file.open(token);
      const holding = server.transport.holdNextAskOf('finishChunk');
      const first = file.chunk(token, 1, ciphertext(90));
      const release = await holding;
      const last = ciphertext(100);
      t.is((await file.chunk(token, 1, last)).status, 200);
      if (isToldBeforeTheClose) {
        release();
        t.is((await first).status, 400);
      }
      t.is((await file.close(token)).status, 200);
      release();
      await first;
      await server.advance(1_000);
      t.deepEqual(await file.download(100), last);
    }
  }
  t.is(server.files.blobs.size, 2);
  t.is(await usedBytes(device), 200);
});

interface Scene {
  readonly server: TestServer;
  readonly file: RemoteFile;
  readonly death: Death;
}

async function startScene(t: ExecutionContext): Promise<Scene> {
  const death = new Death();
  const server = await startServer(t, { host: { schedule: death.schedule } });
  return { server, file: new RemoteFile(await server.device()), death };
}

/** Has the host die around the nth commit from now on, and lets another take over, if it comes to that. */
async function dying<T>(
  { server, death }: Scene,
  commit: number,
  isApplied: boolean,
  call: () => Promise<T>,
) {
  death.plan(commit, isApplied);
  let isOver = false;
  const answered = call().finally(() => {
    isOver = true;
  });
  answered.catch(() => undefined);
  await server.until(() => isOver || death.isDead, 5_000);
  // Started work continues after the answer has left.
  if (!death.isDead) await server.advance(1_000);
  const { isDead } = death;
  death.over();
  if (isDead) await server.restart();
  return { answer: await server.answered(answered, 60_000), isDead };
}

const old = Buffer.alloc(300, 1);
const next = [Buffer.alloc(200, 2), Buffer.alloc(50, 3)];

async function replace(file: RemoteFile): Promise<FileAnswer> {
  return accepted(await file.close(await file.uploadAllBut(...next)));
}

for (const isApplied of [false, true]) {
  const what = isApplied ? 'after' : 'before';

  test(`a host dies ${what} any commit of an upload: the file is the old one or the new one`, async (t) => {
    let deaths = 0;
    for (let commit = 1; ; commit += 1) {
      const scene = await startScene(t);
      const { server, file } = scene;
      await file.upload(old);
      const { answer, isDead } = await dying(scene, commit, isApplied, () => replace(file));
      t.is(answer.status, 200);
      t.deepEqual(await file.download(250), Buffer.concat(next));
      t.is(await usedBytes(file.device), 250);
      await server.advance(7_300_000);
      t.is(server.files.blobs.size, 2);
      if (!isDead) break;
      deaths += 1;
    }
    t.log(`${deaths} deaths`);
    t.true(deaths >= 6);
  });

  test(`a host dies ${what} any commit of a deletion: nothing of the file is left or used`, async (t) => {
    let deaths = 0;
    for (let commit = 1; ; commit += 1) {
      const scene = await startScene(t);
      const { server, file } = scene;
      await file.upload(old, old);
      const { answer, isDead } = await dying(scene, commit, isApplied, () => file.remove());
      t.is(answer.status, 200);
      t.is(await usedBytes(file.device), 0);
      await server.advance(700_000);
      t.is(server.files.blobs.size, 0);
      if (!isDead) break;
      deaths += 1;
    }
    t.true(deaths >= 2);
  });
}
