/** Restores a backup as docs/operations.md says. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Account, registerStranger } from '../../kit/account.ts';
import { build, dataDirectoryOf, started } from '../../kit/built-server.ts';
import { Device } from '../../kit/device.ts';
import { note } from '../../kit/items.ts';

test.before(build);

const settings = { E2E_TESTING: 'true' };

/** With owners and modes, like an operator's copy. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

async function running(t: ExecutionContext, directory: string, work: (url: string) => Promise<void>) {
  const server = await started(t, { directory, settings });
  await work(server.url);
  server.child.kill('SIGTERM');
  t.is(await server.exitCode, 0);
}

test.serial(
  'a device that had synced past a restored backup misses nothing that is saved after it',
  async (t) => {
    const directory = dataDirectoryOf(t);
    const backup = join(dataDirectoryOf(t), 'copy');
    let account: Account | undefined;
    let token = '';
    const deviceAt = async (url: string): Promise<Device> => {
      account ??= await registerStranger({ url });
      return new Device({ url }, account);
    };
    const save = async (url: string): Promise<string> => {
      const device = await deviceAt(url);
      const uuid = randomUUID();
      token = (await device.sync({ items: [note({ uuid })], sync_token: token })).sync_token;
      return uuid;
    };
    let inBackup = '';
    await running(t, directory, async (url) => {
      inBackup = await save(url);
    });
    copy(directory, backup);
    await running(t, directory, async (url) => {
      await save(url);
      await save(url);
    });
    const newest = token;

    rmSync(directory, { recursive: true });
    copy(backup, directory);
    writeFileSync(join(directory, 'restored'), '');
    await running(t, directory, async (url) => {
      const saved = [await save(url), await save(url), await save(url)];
      const device = await deviceAt(url);
      const { retrieved_items: got } = await device.sync({ sync_token: newest });
      t.deepEqual(got.map(({ uuid }) => uuid).sort(), [inBackup, ...saved].sort());
      token = (await device.sync({ sync_token: null })).sync_token;
    });
    // The mark is gone: from here on tokens are valid again.
    await running(t, directory, async (url) => {
      const device = await deviceAt(url);
      t.deepEqual((await device.sync({ sync_token: token })).retrieved_items, []);
    });
  },
);
