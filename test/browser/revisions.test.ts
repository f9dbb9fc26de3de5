/** The history of a note, as the unmodified client lists, reads, restores and deletes it. */
import test from 'ava';
import { type DeviceStyle, World } from './world.ts';

const account = { email: 'history@example.org', password: 'correct horse battery' };
const style: DeviceStyle = { pageOrigin: 'same', apiVersion: '20240226' };
let world: World | undefined;

test.after.always(() => world?.close());

test('a device lists what a note was, reads it, goes back to it, and deletes it from the history', async (t) => {
  world = await World.open({ REVISIONS_FREQUENCY: '0' });
  const a = await world.device('a', style);
  await a.client.register(account);
  const itemUuid = await a.client.createNote({ title: 'diary', text: 'first' });
  t.true(await a.client.sync());
  for (const text of ['second', 'third']) {
    await a.client.editNote(itemUuid, text);
    t.true(await a.client.sync());
  }

  const b = await world.device('b', style);
  t.is(await b.client.signIn(account), undefined);
  const listed = await b.client.revisions(itemUuid);
  // The client does not know this host as its own service, and neither does it know any private server.
  for (const revision of listed) t.true(await b.client.opensRevision(revision));
  t.false(await b.client.opensRevision({ required_role: 'CORE_USER' }));
  const texts: string[] = [];
  for (const { uuid } of listed) texts.push(await b.client.revisionText({ itemUuid, revisionUuid: uuid }));
  t.deepEqual(texts, ['third', 'second', 'first']);

  await b.client.editNote(itemUuid, texts[2] ?? '');
  t.true(await b.client.sync());
  t.true(await a.client.sync());
  t.deepEqual(
    (await a.client.notes()).map(({ text }) => text),
    ['first'],
  );

  const [newest] = await a.client.revisions(itemUuid);
  await a.client.deleteRevision({ itemUuid, revisionUuid: newest?.uuid ?? '' });
  t.deepEqual(await a.client.revisions(itemUuid), listed);
  t.deepEqual(world.serverFailures, []);
});
