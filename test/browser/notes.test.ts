/**
 * Two devices of one account write, edit and delete notes and see each other's changes. The page and the server share
 * one origin, and the client uses cookie sessions. The tests are the steps of one story and run in order.
 */
import { randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import type { Device } from './device.ts';
import type { NoteView } from './page/client.ts';
import { type DeviceStyle, World } from './world.ts';

const account = { email: 'notes@example.org', password: 'correct horse battery' };
const style: DeviceStyle = { pageOrigin: 'same', apiVersion: '20240226' };
let world: World | undefined;
let a: Device;
let b: Device;

test.before(async () => {
  world = await World.open();
  a = await world.device('a', style);
  b = await world.device('b', style);
});

test.after.always(() => world?.close());

test.after('the server reports no failure of its own', (t) => {
  t.deepEqual(world?.serverFailures, []);
});

test.serial('a device registers, and a second one sees its notes and tags decrypted', async (t) => {
  await a.client.register(account);
  const uuid = await a.client.createNote({ title: 'shopping', text: 'bread, cheese' });
  await a.client.createNote({ title: 'diary', text: 'ἐν ἀρχῇ 🌍' });
  await a.client.createTag('home', [uuid]);
  t.true(await a.client.sync());

  t.is(await b.client.signIn(account), undefined);
  t.deepEqual(withoutUuids(await b.client.notes()), [
    { title: 'diary', text: 'ἐν ἀρχῇ 🌍', tags: [] },
    { title: 'shopping', text: 'bread, cheese', tags: ['home'] },
  ]);
  t.deepEqual(await b.client.tags(), ['home']);
});

test.serial('the session lives in cookies, and the token in the client is no secret', async (t) => {
  const names = await a.cookieNames();
  t.is(names.filter((name) => name.startsWith('access_token_')).length, 1);
  t.is(names.filter((name) => name.startsWith('refresh_token_')).length, 1);
  t.regex((await a.client.accessToken()).value, /^2:/);
});

test.serial('an edit on one device appears on the other', async (t) => {
  const { uuid } = await noteTitled(b, 'shopping');
  await b.client.editNote(uuid, 'bread, cheese, wine');
  t.true(await b.client.sync());

  t.true(await a.client.sync());
  t.is((await noteTitled(a, 'shopping')).text, 'bread, cheese, wine');
});

test.serial('a note deleted on one device disappears from the other', async (t) => {
  const { uuid } = await noteTitled(a, 'diary');
  await a.client.deleteNote(uuid);
  t.true(await a.client.sync());

  t.true(await b.client.sync());
  t.deepEqual(titles(await b.client.notes()), ['shopping']);
});

test.serial('when both devices edit one note at the same time, no text is lost', async (t) => {
  const { uuid } = await noteTitled(a, 'shopping');
  await a.client.editNote(uuid, 'written on a');
  await b.client.editNote(uuid, 'written on b');
  const refusal = Promise.race([a.outdatedItemRefused(), b.outdatedItemRefused()]);
  await Promise.all([a.client.sync(), b.client.sync()]);
  await t.notThrowsAsync(refusal);
  t.true(await a.client.sync());
  t.true(await b.client.sync());
  t.true(await a.client.sync());

  t.deepEqual(texts(await a.client.notes()), ['written on a', 'written on b']);
  t.deepEqual(await a.client.notes(), await b.client.notes());
});

test.serial('notes written on both devices at the same moment reach both', async (t) => {
  const rounds = ['1', '2', '3', '4', '5'];
  for (const round of rounds) {
    await a.client.createNote({ title: `moment ${round} on a`, text: '' });
    await b.client.createNote({ title: `moment ${round} on b`, text: '' });
    t.deepEqual(await Promise.all([a.client.sync(), b.client.sync()]), [true, true]);
  }
  t.true(await a.client.sync());
  t.true(await b.client.sync());

  const expected = rounds.flatMap((round) => [`moment ${round} on a`, `moment ${round} on b`]);
  t.deepEqual(titlesFrom(await a.client.notes(), 'moment'), expected);
  t.deepEqual(titlesFrom(await b.client.notes(), 'moment'), expected);
});

test.serial('a note of several megabytes arrives whole', async (t) => {
  const text = randomBytes(3_000_000).toString('hex');
  await a.client.createNote({ title: 'large', text });
  t.true(await a.client.sync());

  t.true(await b.client.sync());
  t.true((await noteTitled(b, 'large')).text === text);
});

test.serial('more notes than fit in one page arrive, each once', async (t) => {
  const expected = Array.from({ length: 320 }, (_, index) => `page ${String(index).padStart(3, '0')}`);
  await a.client.createNotes(expected.map((title) => ({ title, text: title })));
  t.true(await a.client.sync());

  t.true(await b.client.sync());
  t.deepEqual(titlesFrom(await b.client.notes(), 'page'), expected);
});

test.serial('a device that signs in later gets all of it and brings what it wrote before', async (t) => {
  const c = await device('c');
  await c.client.createNote({ title: 'written offline', text: 'kept' });
  t.is(await c.client.signIn(account), undefined);
  t.true(await c.client.sync());

  t.true(await a.client.sync());
  t.true(await b.client.sync());
  t.is((await noteTitled(b, 'written offline')).text, 'kept');
  t.deepEqual(await c.client.notes(), await a.client.notes());
  await isInSync(t, c);
  await c.close();
});

test.serial("both devices are in sync, and the client's own integrity check agrees", async (t) => {
  await isInSync(t, a);
  await isInSync(t, b);
});

async function isInSync(t: ExecutionContext, on: Device): Promise<void> {
  t.true(await on.client.isInSync());
  t.is(await on.client.unsavedItemCount(), 0);
  t.is(await on.client.undecryptableItemCount(), 0);
}

function device(name: string): Promise<Device> {
  if (world === undefined) throw new Error('The world did not open.');
  return world.device(name, style);
}

async function noteTitled(on: Device, title: string): Promise<NoteView> {
  const found = (await on.client.notes()).find((note) => note.title === title);
  if (found === undefined) throw new Error(`There is no note titled ${title}.`);
  return found;
}

function titles(notes: NoteView[]): string[] {
  return notes.map((note) => note.title);
}

function titlesFrom(notes: NoteView[], start: string): string[] {
  return titles(notes).filter((title) => title.startsWith(start));
}

function texts(notes: NoteView[]): string[] {
  return notes.map((note) => note.text).sort();
}

function withoutUuids(notes: NoteView[]): Omit<NoteView, 'uuid'>[] {
  return notes.map(({ title, text, tags }) => ({ title, text, tags }));
}
