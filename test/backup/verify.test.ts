/** `scriptorium backup verify`, as an operator types it, on backups of a real server that are not what was written. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import test from 'ava';
import { openFolderTarget } from '../../process/backup/folder-target.ts';
import {
  backupsIn,
  type Manifest,
  manifestBytes,
  manifestOf,
  readManifest,
  sha256,
} from '../../process/backup/format.ts';
import { TableDigest } from '../../process/backup/rows.ts';
import { Device } from '../kit/device.ts';
import { ciphertext, RemoteFile } from '../kit/files.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { type RunningServer, startServer } from '../kit/started-server.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { scriptorium } from './scriptorium.ts';
import { treeOf } from './world.ts';

const limitMs = 400_000;
const damaged = 65;

let server: RunningServer;
test.before(async (t) => {
  t.timeout(limitMs);
  server = await startServer();
  const device = await Device.register(server);
  await device.sync({ items: [1, 2, 3].map((n) => note({ uuid: uuidNumber(n) })) });
  await new RemoteFile(device).upload(ciphertext(2_000));
});
test.after.always(() => server?.stop());

const settingsFor = (folder: string) => ({
  DATA_DIR: server.dataDirectory,
  BACKUP_TARGET: join(folder, 'backups'),
});

test.serial(
  'one flipped bit of a file, a list of files or a row is found by `verify`, with exit code 65',
  async (t) => {
    t.timeout(limitMs);
    const settings = settingsFor(temporaryFolder(t));
    t.is((await scriptorium(settings, ['backup'])).code, 0);
    const names = Object.keys(treeOf(settings.BACKUP_TARGET));
    const digit = names.find((name) => name.startsWith('blobs/'))?.split('/')[2];
    for (const [what, chosen] of [
      ['a file', (name: string) => name.startsWith('blobs/')],
      ['a list of files', (name: string) => name.endsWith(`/objects-${digit}`)],
      ['a row', (name: string) => name.includes('/rows-')],
    ] as const) {
      const path = join(settings.BACKUP_TARGET, names.find(chosen) ?? what);
      const bytes = readFileSync(path);
      const flipped = Buffer.from(bytes);
      const at = Math.floor(bytes.length / 2);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
      writeFileSync(path, flipped);
      const verified = await scriptorium(settings, ['backup', 'verify']);
      t.is(verified.code, damaged, `${what}: ${verified.err}`);
      t.regex(verified.err, /its hash differs/, what);
      writeFileSync(path, bytes);
    }
  },
);

/** Puts an item of the backup after the end of its collection. All hashes are those of the changed rows. */
async function misplaceAnItem(folder: string): Promise<void> {
  const target = await openFolderTarget(folder, { create: false });
  const { whole } = await backupsIn(target);
  const manifest = await readManifest(target, whole.at(-1) ?? '');
  const table = manifest.tables.find(({ name }) => name === 'item');
  if (table === undefined) throw new Error('the backup has no items');
  const position = Object.keys(table.columns).indexOf('position');
  const digest = new TableDigest();
  let isMisplaced = false;
  const rows: Manifest['rows'] = manifest.rows.map((object) => {
    if (object.table !== 'item') return object;
    const lines = gunzipSync(readFileSync(join(folder, object.name)))
      .toString('utf8')
      .trimEnd()
      .split('\n');
    const changed = lines.map((line) => {
      const row = JSON.parse(line) as unknown[];
      if (!isMisplaced) row[position] = '1000000';
      isMisplaced = true;
      return JSON.stringify(row);
    });
    for (const line of changed) digest.add(line);
    const bytes = gzipSync(`${changed.join('\n')}\n`);
    writeFileSync(join(folder, object.name), bytes);
    return { ...object, bytes: bytes.length, sha256: sha256(bytes) };
  });
  const tables = manifest.tables.map((each) => (each === table ? { ...each, digest: digest.hex } : each));
  writeFileSync(join(folder, manifestOf(manifest.id)), manifestBytes({ ...manifest, tables, rows }));
}

test.serial(
  'an item that the restored server does not give is found by signing in, with exit code 65',
  async (t) => {
    t.timeout(limitMs);
    const settings = settingsFor(temporaryFolder(t));
    t.is((await scriptorium(settings, ['backup'])).code, 0);
    await misplaceAnItem(settings.BACKUP_TARGET);
    const verified = await scriptorium(settings, ['backup', 'verify']);
    t.is(verified.code, damaged, verified.err);
    t.regex(verified.err, /The server gave an account 2 items, and the backup has 3 or others/);
  },
);

test.serial('an encrypted backup is verified with its identity, and refused without', async (t) => {
  t.timeout(limitMs);
  const folder = temporaryFolder(t);
  const settings = settingsFor(folder);
  const identity = await generateIdentity();
  const file = join(folder, 'identity');
  writeFileSync(file, `# the key of the backups\n${identity}\n`);
  const recipient = await identityToRecipient(identity);
  t.is((await scriptorium(settings, ['backup', '--recipient', recipient])).code, 0);
  const refused = await scriptorium(settings, ['backup', 'verify']);
  t.is(refused.code, 1, refused.err);
  t.regex(refused.err, /name the file of its age identity with --identity/);
  const verified = await scriptorium(settings, ['backup', 'verify', '--identity', file]);
  t.is(verified.code, 0, verified.err);
  t.regex(verified.out, /^1 account signed in and synced 3 items, the same as in the backup\.$/m);
});
