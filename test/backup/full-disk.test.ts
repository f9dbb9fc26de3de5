/** `scriptorium backup` into a folder whose disk fills up while it writes. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { mountSmallDisk } from '../cluster/small-disk.ts';
import { Device } from '../kit/device.ts';
import { ciphertext, RemoteFile } from '../kit/files.ts';
import { note, uuidNumber } from '../kit/items.ts';
import { startServer } from '../kit/started-server.ts';
import { type Settings, scriptorium } from './scriptorium.ts';
import { treeOf } from './world.ts';

const limitMs = 400_000;
const unavailable = 69;
const roomBytes = 262_144;

const disk = mountSmallDisk(16);
const onDisk = disk === undefined ? test.skip : test;

async function listed(t: ExecutionContext, settings: Settings): Promise<readonly unknown[]> {
  const { code, out, err } = await scriptorium(settings, ['backup', 'list', '--json']);
  t.is(code, 0, err);
  return JSON.parse(out).backups;
}

onDisk(
  'a backup whose disk is full ends with 69 and is none, and the one before it stays whole (a small file system, as root)',
  async (t) => {
    if (disk === undefined) return;
    t.timeout(limitMs);
    t.teardown(() => disk.unmount());
    const server = await startServer();
    t.teardown(() => server.stop());
    const target = join(disk.path, 'backups');
    const settings = { DATA_DIR: server.dataDirectory, BACKUP_TARGET: target };
    const device = await Device.register(server);
    await device.sync({ items: [1, 2, 3].map((n) => note({ uuid: uuidNumber(n) })) });
    await new RemoteFile(device).upload(ciphertext(2_000));
    t.is((await scriptorium(settings, ['backup'])).code, 0);
    const before = await listed(t, settings);
    t.is(before.length, 1);

    // More than there is room for, even when it is zipped.
    const content = `004:${randomBytes(2 * roomBytes).toString('base64')}`;
    await device.sync({ items: [note({ uuid: uuidNumber(4), content })] });
    const room = join(disk.path, 'room');
    writeFileSync(room, Buffer.alloc(roomBytes));
    await disk.fill();
    rmSync(room);
    const names = Object.keys(treeOf(target));
    const full = await scriptorium(settings, ['backup']);
    t.is(full.code, unavailable, full.err);
    t.regex(full.err, /The folder of backups .* is full: make room, or keep fewer backups/);
    const added = Object.keys(treeOf(target)).filter((name) => !names.includes(name));
    t.true(
      added.some((name) => name.includes('/rows-')),
      'a part of it was written',
    );
    t.deepEqual(await listed(t, settings), before);
    const verified = await scriptorium(settings, ['backup', 'verify']);
    t.is(verified.code, 0, verified.err);
    t.regex(verified.out, /^1 account signed in and synced 3 items, the same as in the backup\.$/m);

    await disk.free();
    const again = await scriptorium(settings, ['backup']);
    t.is(again.code, 0, again.err);
    t.is((await listed(t, settings)).length, 2);
  },
);
