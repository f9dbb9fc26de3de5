/**
 * The life of a shared vault, from the first invite to its end, in the unmodified client: Ann with two devices, Bob
 * with one. The tests are the steps of one story and run in order.
 */
import test, { type ExecutionContext } from 'ava';
import { until } from '../kit/until.ts';
import type { Device } from './device.ts';
import { type DeviceStyle, World } from './world.ts';

const ann = { email: 'ann@example.org', password: 'correct horse battery' };
const bob = { email: 'bob@example.org', password: 'another horse battery' };
const style: DeviceStyle = { pageOrigin: 'other', apiVersion: '20240226' };
let world: World | undefined;
let a: Device;
let a2: Device;
let b: Device;

test.before(async () => {
  world = await World.open();
  a = await world.device('a', style);
  a2 = await world.device('a2', style);
  b = await world.device('b', style);
  await a.client.register(ann);
  await b.client.register(bob);
  await a.vaults.trust(await b.vaults.collaborationId(), 'Bob');
  await b.vaults.trust(await a.vaults.collaborationId(), 'Ann');
});

test.after.always(() => world?.close());

test.after('the server reports no failure of its own', (t) => {
  t.deepEqual(world?.serverFailures, []);
});

test.serial(
  'a vault is created with a note in it, and a second device of the account has both',
  async (t) => {
    await a.vaults.create('holiday');
    await a.client.createNote({ title: 'packing', text: 'tent' });
    await a.client.createNote({ title: 'diary', text: 'mine' });
    t.true(await a.client.sync());
    await a.vaults.moveIn('holiday', 'packing');
    t.true(await a.client.sync());

    await reopenSecond(t);
    t.deepEqual(await a2.vaults.notes(), [
      { title: 'diary', text: 'mine', vault: null, lastEditedBy: null },
      { title: 'packing', text: 'tent', vault: 'holiday', lastEditedBy: 'Me' },
    ]);
    t.true(await a2.vaults.owns('holiday'));
  },
);

test.serial('the invitee sees an invite, and its acceptance shows the vault and its note', async (t) => {
  await a.vaults.invite('holiday', 'Bob', 'write');
  await until(async () => (await b.client.sync()) && (await b.vaults.invites()).length > 0);
  t.deepEqual(await b.vaults.invites(), [{ trusted: true, permission: 'write' }]);
  t.deepEqual(await b.vaults.names(), []);

  await b.vaults.acceptInvite();
  t.deepEqual(await b.vaults.invites(), []);
  t.deepEqual(await b.vaults.names(), ['holiday']);
  t.deepEqual(await b.vaults.notes(), [
    { title: 'packing', text: 'tent', vault: 'holiday', lastEditedBy: 'Ann' },
  ]);
  t.false(await b.vaults.owns('holiday'));
  t.deepEqual(await membersSeenBy(a), [
    { name: 'Bob', permission: 'write', isSurvivor: false },
    { name: 'Me', permission: 'admin', isSurvivor: false },
  ]);
});

test.serial('all devices have what either of them edits or brings in', async (t) => {
  await edit(b, 'packing', 'tent, stove');
  await b.client.createNote({ title: 'route', text: 'north' });
  await b.vaults.moveIn('holiday', 'route');
  t.true(await b.client.sync());
  t.true(await a.client.sync());
  await edit(a, 'route', 'north, then west');
  t.true(await a.client.sync());

  for (const device of [a2, b]) t.true(await device.client.sync());
  for (const device of [a, a2, b]) {
    t.deepEqual(await textsIn(device, 'holiday'), { packing: 'tent, stove', route: 'north, then west' });
  }
  const editors = (await a.vaults.notes()).map(({ lastEditedBy }) => lastEditedBy);
  t.deepEqual(editors, [null, 'Bob', 'Me']);
});

test.serial('offline edits of both are all kept, and they end with the same', async (t) => {
  await Promise.all([a.goOffline(), b.goOffline()]);
  await edit(a, 'packing', 'written by Ann');
  await edit(b, 'packing', 'written by Bob');
  await b.client.createNote({ title: 'songs', text: 'for the fire' });
  await b.vaults.moveIn('holiday', 'songs');
  for (const { client } of [a, b]) t.false(await client.sync());

  await Promise.all([a.goOnline(), b.goOnline()]);
  await until(async () => (await a.client.sync()) && (await a.client.unsavedItemCount()) === 0);
  await until(async () => (await b.client.sync()) && (await b.client.unsavedItemCount()) === 0);
  for (const device of [a, a2]) t.true(await device.client.sync());
  for (const device of [a, a2, b]) {
    const notes = (await device.vaults.notes()).filter(({ vault }) => vault === 'holiday');
    const texts = notes.map(({ title, text }) => `${title}: ${text}`).sort();
    t.deepEqual(texts, [
      'packing: written by Ann',
      'packing: written by Bob',
      'route: north, then west',
      'songs: for the fire',
    ]);
  }
});

test.serial('a vault that is renamed has its new name for the other member, by a message', async (t) => {
  await a.vaults.rename('holiday', 'summer');
  await until(async () => (await b.client.sync()) && (await b.vaults.names()).includes('summer'));
  await until(async () => deletedMessages(b) > 0);
  t.true(deletedMessages(b) > 0);
});

test.serial('a rotated key reaches the other member, who reads and writes on', async (t) => {
  const before = await b.vaults.keyCount();
  await a.vaults.rotateKey('summer');
  await until(async () => (await b.client.sync()) && (await b.vaults.keyCount()) > before);
  await edit(b, 'route', 'south');
  t.true(await b.client.sync());
  t.is(await b.client.undecryptableItemCount(), 0);

  t.true(await a.client.sync());
  await reopenSecond(t);
  for (const device of [a, a2]) t.is((await textsIn(device, 'summer'))['route'], 'south');
});

test.serial('the other member still trusts a member who changes the password', async (t) => {
  t.is(await b.client.changePassword('a third horse battery'), undefined);
  const processed = deletedMessages(a);
  await until(async () => (await a.client.sync()) && deletedMessages(a) > processed);
  await edit(b, 'route', 'east');
  t.true(await b.client.sync());
  t.true(await a.client.sync());
  const route = (await a.vaults.notes()).find(({ title }) => title === 'route');
  t.deepEqual(route, { title: 'route', text: 'east', vault: 'summer', lastEditedBy: 'Bob' });
});

test.serial('a member who is removed loses the vault and its notes', async (t) => {
  await a.vaults.removeMember('summer', 'Bob');
  await until(async () => (await b.client.sync()) && (await b.vaults.names()).length === 0);
  t.deepEqual(await b.vaults.notes(), []);
});

test.serial('invited again, the member has all of it, and leaves', async (t) => {
  await a.vaults.invite('summer', 'Bob', 'write');
  await until(async () => (await b.client.sync()) && (await b.vaults.invites()).length > 0);
  await b.vaults.acceptInvite();
  t.deepEqual(await textsIn(b, 'summer'), await textsIn(a, 'summer'));
  t.is(await b.client.undecryptableItemCount(), 0);

  await b.vaults.leave('summer');
  t.deepEqual(await b.vaults.names(), []);
  t.deepEqual(await b.vaults.notes(), []);
  t.deepEqual(
    (await membersSeenBy(a)).map(({ name }) => name),
    ['Me'],
  );
});

test.serial(
  'an invite that is declined or taken back is gone on both sides, and lets nobody in',
  async (t) => {
    await a.vaults.create('short');
    await a.client.createNote({ title: 'menu', text: 'soup' });
    await a.vaults.moveIn('short', 'menu');
    t.true(await a.client.sync());
    await inviteToRead();
    await b.vaults.declineInvite();
    t.is(await a.vaults.sentInviteCount('short'), 0);
    t.is(await b.vaults.inboundInviteCount(), 0);

    await inviteToRead();
    await a.vaults.cancelInvites('short');
    t.is(await a.vaults.sentInviteCount('short'), 0);
    await until(async () => (await b.vaults.inboundInviteCount()) === 0);
    t.true(await b.client.sync());
    t.deepEqual(await b.vaults.names(), []);
    t.deepEqual(await b.vaults.notes(), []);
  },
);

test.serial('an edit by a read-only member reaches nobody', async (t) => {
  await inviteToRead();
  await b.vaults.acceptInvite();
  t.deepEqual(await textsIn(b, 'short'), { menu: 'soup' });
  await edit(b, 'menu', 'soup, salted');
  await b.client.sync();
  for (const device of [a, a2]) t.true(await device.client.sync());
  t.deepEqual(await textsIn(a, 'short'), { menu: 'soup' });

  await b.reinstall();
  t.is(await b.client.signIn({ ...bob, password: 'a third horse battery' }), undefined);
  t.deepEqual(await textsIn(b, 'short'), { menu: 'soup' });
  await edit(a, 'menu', 'soup and bread');
  t.true(await a.client.sync());
  t.true(await b.client.sync());
  t.deepEqual(await textsIn(b, 'short'), { menu: 'soup and bread' });
});

test.serial("a note that is taken out of the vault is its owner's alone", async (t) => {
  await a.vaults.moveOut('menu');
  t.true(await a.client.sync());
  // The answer to Ann does not wait for Bob's notification: its message may come with a later sync.
  await until(async () => (await b.client.sync()) && (await textsIn(b, 'short'))['menu'] === undefined);
  // Only the refused change of Bob, which the client keeps as a note of Bob's own.
  t.deepEqual(await b.vaults.notes(), [
    { title: 'menu', text: 'soup, salted', vault: null, lastEditedBy: null },
  ]);
  await reopenSecond(t);
  for (const { vaults } of [a, a2]) {
    const menu = (await vaults.notes()).find(({ title }) => title === 'menu');
    t.like(menu, { text: 'soup and bread', vault: null });
  }
});

test.serial('a vault that is deleted is gone from every device', async (t) => {
  t.deepEqual(await b.vaults.names(), ['short']);
  await a.vaults.delete('short');
  for (const device of [a, a2]) t.true(await device.client.sync());
  await until(async () => (await b.client.sync()) && (await b.vaults.names()).length === 0);
  for (const { vaults } of [a, a2]) t.deepEqual(await vaults.names(), ['summer']);
});

test.serial("the vault of an account that is deleted is its survivor's", async (t) => {
  await a.vaults.invite('summer', 'Bob', 'write');
  await until(async () => (await b.client.sync()) && (await b.vaults.invites()).length > 0);
  await b.vaults.acceptInvite();
  const texts = await textsIn(a, 'summer');
  await a.vaults.designateSurvivor('summer', 'Bob');
  t.deepEqual(await membersSeenBy(b), [
    { name: 'Ann', permission: 'admin', isSurvivor: false },
    { name: 'Me', permission: 'write', isSurvivor: true },
  ]);

  t.is(await a.client.deleteAccount(), undefined);
  await until(async () => (await b.client.sync()) && (await membersSeenBy(b)).length === 1);
  t.deepEqual(await membersSeenBy(b), [{ name: 'Me', permission: 'admin', isSurvivor: false }]);
  t.deepEqual(await textsIn(b, 'summer'), texts);
  await edit(b, 'packing', 'mine now');
  t.true(await b.client.sync());
  t.is(await b.client.unsavedItemCount(), 0);
});

/** The library shows items that arrive together with a vault's key only after a restart, with any server. */
async function reopenSecond(t: ExecutionContext): Promise<void> {
  await a2.reinstall();
  t.is(await a2.client.signIn(ann), undefined);
  t.is(await a2.client.undecryptableItemCount(), 0);
}

async function inviteToRead(): Promise<void> {
  await a.vaults.invite('short', 'Bob', 'read');
  await until(async () => (await b.client.sync()) && (await b.vaults.invites()).length > 0);
}

async function membersSeenBy(device: Device) {
  const [name = ''] = await device.vaults.names();
  return (await device.vaults.members(name)).sort((x, y) => x.name.localeCompare(y.name));
}

async function textsIn(device: Device, name: string): Promise<Record<string, string>> {
  const notes = (await device.vaults.notes()).filter(({ vault }) => vault === name);
  return Object.fromEntries(notes.map(({ title, text }) => [title, text]));
}

async function edit(device: Device, title: string, text: string): Promise<void> {
  const note = (await device.client.notes()).find((listed) => listed.title === title);
  if (note === undefined) throw new Error(`There is no note ${title}.`);
  await device.client.editNote(note.uuid, text);
}

const deletedMessages = ({ answers }: Device): number =>
  answers.filter((answer) => /^DELETE \/v1\/messages\/[0-9a-f-]+ 200$/.test(answer)).length;
