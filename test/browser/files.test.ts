/** A file that the unmodified client encrypts, sends in chunks, fetches on another device, and deletes. */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { until } from '../kit/until.ts';
import { type DeviceStyle, World } from './world.ts';

const account = { email: 'files@example.org', password: 'correct horse battery' };
const style: DeviceStyle = { pageOrigin: 'other', apiVersion: '20240226' };
/** Two of the client's chunks, and the beginning of a third. */
const bytes = 10_000_001;
let world: World | undefined;

test.after.always(() => world?.close());

test.serial(
  'a file of several chunks goes up from one device, comes down whole on another, and is deleted',
  async (t) => {
    world ??= await World.open();
    const [a, b] = [await world.device('a', style), await world.device('b', style)];
    await a.client.register(account);
    t.is(await b.client.signIn(account), undefined);
    await a.files.upload('small', 1);
    const hash = await a.files.upload('holiday', bytes);

    t.true(await b.client.sync());
    t.deepEqual(await b.files.list(), [
      { name: 'holiday', chunks: 3 },
      { name: 'small', chunks: 1 },
    ]);
    t.is(await b.files.download('holiday'), hash);
    t.is(await a.files.download('holiday'), hash);
    t.is(b.answers.filter((answer) => answer === 'GET /v1/files 206').length, 3);

    await b.files.delete('holiday');
    t.true(await a.client.sync());
    for (const { files } of [a, b]) t.deepEqual(await files.list(), [{ name: 'small', chunks: 1 }]);
    t.true(b.answers.includes('DELETE /v1/files 200'));
    t.deepEqual(world.serverFailures, []);
  },
);

test.serial(
  'a file uploaded to a vault, and one that is moved into it, come down for the other member',
  async (t) => {
    world ??= await World.open();
    const [a, b] = [await world.device('ann', style), await world.device('bob', style)];
    await a.client.register({ email: 'ann@example.org', password: account.password });
    await b.client.register({ email: 'bob@example.org', password: account.password });
    await a.vaults.trust(await b.vaults.collaborationId(), 'Bob');
    await b.vaults.trust(await a.vaults.collaborationId(), 'Ann');
    await a.vaults.create('holiday');
    const uploaded = await a.files.upload('map', 5_000_001, 'holiday');
    const moved = await a.files.upload('photo', 5_000_001);
    await a.files.moveIn('holiday', 'photo');
    t.true(await a.client.sync());
    await a.vaults.invite('holiday', 'Bob', 'write');
    // The client processes the results of a sync after that sync.
    await until(async () => (await b.client.sync()) && (await b.vaults.invites()).length > 0);
    await b.vaults.acceptInvite();

    t.is(await b.files.download('map'), uploaded);
    t.is(await b.files.download('photo'), moved);
    t.is(await a.files.download('photo'), moved);
    await b.files.delete('map');
    t.true(await a.client.sync());
    t.deepEqual(await a.files.list(), [{ name: 'photo', chunks: 2 }]);
    t.deepEqual(world.serverFailures, []);
  },
);

/** Like a power cut: leaves a part of the last write. */
function takePartOfLastChunk(dataDirectory: string): void {
  const folder = join(dataDirectory, 'files');
  const chunks = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  truncateSync(chunks[0] ?? '', 100);
}

test.serial(
  'a file of which a power cut has taken a part before its end was said is not there, and goes up when it is sent again',
  async (t) => {
    world ??= await World.open();
    const device = await world.device('eve', style);
    await device.client.register({ email: 'eve@example.org', password: account.password });
    await device.files.send('diary', bytes);
    await world.crash(takePartOfLastChunk);
    await t.throwsAsync(device.files.finish('diary'), { message: /Could not close upload session/ });
    t.true(device.answers.includes('POST /v1/files/upload/close-session 400'));
    t.deepEqual(await device.files.list(), []);

    const hash = await device.files.upload('diary', bytes);
    t.is(await device.files.download('diary'), hash);
    t.deepEqual(world.serverFailures, []);
  },
);
