/** `scriptorium import account` with temporary files on a disk that is too small. */
import { join } from 'node:path';
import test from 'ava';
import { createSpool } from '../../cli/import/source/spool.ts';
import { mountSmallDisk } from '../cluster/small-disk.ts';

const diskMiB = 16;
const disk = mountSmallDisk(diskMiB);
const onDisk = disk === undefined ? test.skip : test;

onDisk(
  'an account that is too large for the disk is refused in words (a small file system, as root)',
  async (t) => {
    if (disk === undefined) return;
    t.teardown(() => disk.unmount());
    const spool = await createSpool(join(disk.path, 'spool.sqlite'), 1_024 * 1_048_576);
    const content = 'a'.repeat(1_048_576);
    t.throws(
      () => {
        for (let item = 0; item < 2 * diskMiB; item += 1) spool.insert('items', { uuid: `${item}`, content });
      },
      { message: /the disk of the temporary files is full.*TMPDIR/s },
    );
  },
);
