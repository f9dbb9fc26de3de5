/**
 * A save whose answer is lost still counts. After a reset, the browser itself repeats the request word for word.
 * After a proxy's error, the client encrypts again. Neither may leave a copy of the note.
 */
import test from 'ava';
import type { Device } from './device.ts';
import type { Loss } from './origin.ts';
import { type DeviceStyle, World } from './world.ts';

const account = { email: 'lost@example.org', password: 'correct horse battery' };
const style: DeviceStyle = { pageOrigin: 'same', apiVersion: '20240226' };
const triesMax = 10;
let world: World;
let a: Device;
let b: Device;

test.before(async () => {
  world = await World.open();
  a = await world.device('a', style);
  b = await world.device('b', style);
  await a.client.register(account);
  await b.client.signIn(account);
});

test.after.always(() => world?.close());

test.after('the server reports no failure of its own', (t) => {
  t.deepEqual(world.serverFailures, []);
});

for (const [how, becomes, isSame] of [
  ['reset', 'is repeated as it was', true],
  ['bad gateway', 'is encrypted again', false],
] as const) {
  test.serial(`a new note whose answer is lost by a ${how} ${becomes}, and is one note`, async (t) => {
    const title = `new, ${how}`;
    t.true(await a.client.sync());
    const uuid = await a.client.createNote({ title, text: 'kept' });
    t.is(await savedThrough(how, uuid), isSame);
    for (const device of [a, b]) t.deepEqual(await textsOf(device, title), ['kept']);
  });

  test.serial(`an edit whose answer is lost by a ${how} ${becomes}, and leaves no copy`, async (t) => {
    const title = `edited, ${how}`;
    const uuid = await a.client.createNote({ title, text: 'before' });
    t.true(await a.client.sync());
    await a.client.editNote(uuid, 'after');
    t.is(await savedThrough(how, uuid), isSame);
    for (const device of [a, b]) t.deepEqual(await textsOf(device, title), ['after']);
  });
}

test.serial('afterwards both devices are settled', async (t) => {
  for (const { client } of [a, b]) {
    t.true(await client.isInSync());
    t.is(await client.unsavedItemCount(), 0);
    t.is(await client.undecryptableItemCount(), 0);
  }
});

/** Syncs until a save succeeds whose first answer is lost. Resolves to whether it was sent again unchanged. */
async function savedThrough(how: Loss, uuid: string): Promise<boolean> {
  const sent = world.loseNextSave(how);
  for (let tries = 0; tries < triesMax; tries += 1) {
    await a.client.sync();
    if ((await a.client.unsavedItemCount()) === 0) break;
  }
  const [lost, next] = await sent;
  return lost.has(uuid) && lost.get(uuid) === next.get(uuid);
}

/** The notes of a device with this title, once it has everything. */
async function textsOf(device: Device, title: string): Promise<string[]> {
  await device.client.sync();
  const notes = await device.client.notes();
  return notes.filter((note) => note.title === title).map(({ text }) => text);
}
