import { join } from 'node:path';
import test from 'ava';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';
import { checkDescriptors, checkDisk } from './doctor.ts';

const limits = (soft: number) =>
  `Max open files            ${soft}              1048576              files\n`;

test('too few file descriptors are told with how to get more', (t) => {
  t.is(checkDescriptors(10_000, limits(65_536)).state, 'ok');
  const few = checkDescriptors(10_000, limits(1_024));
  t.is(few.state, 'warning');
  t.regex(few.found, /allow 768 of the 10000 connections of CONNECTIONS_MAX/);
  t.regex(few.remedy ?? '', /LimitNOFILE/);
});

test('a disk that is nearly full is told before it is a problem', async (t) => {
  const findingOf = (freeGibibytes: number, wholeGibibytes: number) =>
    checkDisk('files', '/', async () => ({ bavail: freeGibibytes, blocks: wholeGibibytes, bsize: 2 ** 30 }));
  t.is((await findingOf(10, 100)).state, 'ok');
  const low = await findingOf(9, 100);
  t.is(low.state, 'warning');
  t.is(low.found, '9.0 GiB are free, 9 % of the disk.');
  const full = await findingOf(0.9, 5);
  t.is(full.state, 'problem');
  t.regex(full.remedy ?? '', /Make room/);
});

test('a disk that cannot be measured is a finding, beside which there are others', async (t) => {
  const gone = new Error("ESTALE: stale file handle, statfs '/files'");
  const { state, found } = await checkDisk('files', '/', () => Promise.reject(gone));
  t.is(state, 'problem');
  t.regex(found, /^Its size is unknown: ESTALE/);
});

test('a folder that is still to be made is looked at on the disk it will be on', async (t) => {
  const folder = temporaryFolder(t);
  const [here, later] = await Promise.all([
    checkDisk('files', folder),
    checkDisk('files', join(folder, 'not', 'yet')),
  ]);
  t.regex(here.found, /^\d+\.\d GiB are free, \d+ % of the disk\.$/);
  t.is(later.state, here.state);
});
