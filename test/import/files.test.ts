/** Files from a folder and from a bucket: whole, by their hashes, and only those of accounts and vaults that come. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import test from 'ava';
import { s3Credentials, s3Region, startS3Server } from '../kit/s3-server.ts';
import { type Move, startMove } from './moving.ts';

const limitMs = 120_000;
const storedBytes = ({ world }: Move) =>
  [...world.server.files.blobs.values()].reduce((sum, blob) => sum + blob.length, 0);

async function fill({ there }: Move) {
  const { uuid } = await there.user('ada@example.org');
  const vault = await there.vault(uuid);
  const places: [string, number][] = [
    [`${uuid}/${randomUUID()}`, 9_000_000],
    [`${vault}/${randomUUID()}`, 1_000],
    [`${uuid}/${randomUUID()}`, 0],
    [`${randomUUID()}/${randomUUID()}`, 10],
    ['dumps/a-note', 10],
    [`${uuid}/not-a-uuid`, 10],
  ];
  return { uuid, vault, files: places.map(([name, bytes]) => [name, randomBytes(bytes)] as const) };
}

test('from a folder', async (t) => {
  t.timeout(limitMs);
  const move = await startMove(t);
  const { files } = await fill(move);
  for (const [name, content] of files) {
    mkdirSync(join(move.folder, 'uploads', name, '..'), { recursive: true });
    writeFileSync(join(move.folder, 'uploads', name), content);
  }
  const from = ['--files', join(move.folder, 'uploads'), '--source-key-file', join(move.folder, 'key')];
  const { tables } = await move.pass(from);
  const skipped = { empty: 1, 'account-gone': 1 };
  t.deepEqual(tables.files, { read: 4, written: 2, unchanged: 0, skipped });
  t.is(storedBytes(move), 9_001_000);
  const second = await move.pass(from);
  t.deepEqual(second.tables.files, { read: 4, written: 0, unchanged: 2, skipped });
  t.is(storedBytes(move), 9_001_000, 'nothing is stored twice');
});

/** A folder with one file of one account, and the options that name it. */
async function oneFile(move: Move) {
  const { uuid } = await move.there.user('ada@example.org');
  const [name, content] = [randomUUID(), randomBytes(100_000)];
  const folder = join(move.folder, 'uploads', uuid);
  mkdirSync(folder, { recursive: true });
  const write = () => writeFileSync(join(folder, name), content);
  write();
  const options = ['--files', join(move.folder, 'uploads'), '--source-key-file', join(move.folder, 'key')];
  return { name, content, write, options };
}

test('a second pass brings a file that has other bytes and the same size', async (t) => {
  const move = await startMove(t);
  const { content, write, options } = await oneFile(move);
  await move.pass(options);
  content.writeUInt8(content.readUInt8(50_000) ^ 1, 50_000);
  write();
  t.like((await move.pass(options)).tables.files, { written: 1, unchanged: 0 });
  t.like((await move.pass(options)).tables.files, { written: 0, unchanged: 1 });
});

test('a file that the store has altered is reported, and the next pass brings it', async (t) => {
  const move = await startMove(t);
  const { name, options } = await oneFile(move);
  const { files: store } = move.world.server;
  const { write } = store;
  store.write = async (...writing) => {
    await write(...writing);
    for (const blob of store.blobs.values()) blob.writeUInt8(blob.readUInt8(50_000) ^ 1, 50_000);
  };
  const { tables, findings } = await move.pass(options, 65);
  t.deepEqual(tables.files.skipped, { differs: 1 });
  t.like(findings, [{ reason: 'differs', uuid: name }]);
  store.write = write;
  t.like((await move.pass(options)).tables.files, { written: 1 });
});

test('a folder that is not there is said before anything is written', async (t) => {
  const move = await startMove(t);
  const { uuid } = await move.there.user('ada@example.org');
  const folder = join(move.folder, 'uploads', uuid);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, randomUUID()), randomBytes(100));
  const files = ['--files', join(move.folder, 'uploads'), '--source-key-file', join(move.folder, 'key')];
  const { tables } = await move.pass(files);
  t.like(tables.files, { read: 1, written: 1 });
  const nowhere = await move.run('import', 'server', '--from', move.from, '--files', join(folder, 'none'));
  t.is(nowhere.code, 64);
  t.regex(nowhere.err, /There is no folder/);
});

test('from a bucket of S3', async (t) => {
  t.timeout(limitMs);
  const move = await startMove(t);
  const { files } = await fill(move);
  const s3 = await startS3Server(t);
  await s3.bucket('uploads');
  const client = new S3Client({
    endpoint: s3.endpoint,
    region: s3Region,
    credentials: s3Credentials,
    forcePathStyle: true,
  });
  for (const [Key, Body] of files) await client.send(new PutObjectCommand({ Bucket: 'uploads', Key, Body }));
  // Where the tools of S3 look for them; a worker has variables of its own.
  process.env['AWS_ACCESS_KEY_ID'] = s3Credentials.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = s3Credentials.secretAccessKey;
  const from = `s3://uploads?region=${s3Region}&endpoint=${s3.endpoint}`;
  const { tables } = await move.pass(['--files', from, '--source-key-file', join(move.folder, 'key')]);
  t.deepEqual(tables.files, { read: 4, written: 2, unchanged: 0, skipped: { empty: 1, 'account-gone': 1 } });
  t.is(storedBytes(move), 9_001_000);
});
