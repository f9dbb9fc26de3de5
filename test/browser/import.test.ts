/**
 * A move from the existing server, as the unmodified client goes through it: Ann and Bob with notes, a history and a shared vault.
 * Their accounts and notes are written down as that server's tables have them, and imported. Devices that know nothing but the old
 * password then read them.
 */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { copyToInstallation } from '../import/from-server.ts';
import { sqliteInstallation } from '../import/sqlite.ts';
import { runTyped } from '../kit/operator.ts';
import { until } from '../kit/until.ts';
import { type DeviceStyle, World } from './world.ts';

const ann = { email: 'ann@example.org', password: 'correct horse battery' };
const bob = { email: 'bob@example.org', password: 'another horse battery' };
const style: DeviceStyle = { pageOrigin: 'other', apiVersion: '20240226' };
const limitMs = 300_000;

async function movedWorld(
  t: ExecutionContext,
  { from, folder, whileClosed }: Awaited<ReturnType<typeof sqliteInstallation>>,
): Promise<World> {
  const world = await World.open();
  t.teardown(() => world.close());
  const address = `unix:${join(world.dataDirectory, 'internal-api.sock')}`;
  const args = ['--from', from, '--without-key', 'drop', '--report', join(folder, 'report.json')];
  const imported = await whileClosed(() => runTyped(['import', 'server', ...args], { address }));
  t.is(imported.code, 0, imported.err + imported.out);
  return world;
}

test('a user who moves in signs in by the old password, sees every note, its history and the vault, and syncs on', async (t) => {
  t.timeout(limitMs);
  const old = await World.open({ REVISIONS_FREQUENCY: '0' });
  t.teardown(() => old.close());
  const [a, b] = [await old.device('a', style), await old.device('b', style)];
  await a.client.register(ann);
  await b.client.register(bob);
  await a.vaults.trust(await b.vaults.collaborationId(), 'Bob');
  await b.vaults.trust(await a.vaults.collaborationId(), 'Ann');
  const diary = await a.client.createNote({ title: 'diary', text: 'first' });
  t.true(await a.client.sync());
  await a.client.editNote(diary, 'second');
  const thrown = await a.client.createNote({ title: 'thrown away', text: '' });
  t.true(await a.client.sync());
  await a.client.deleteNote(thrown);
  await a.vaults.create('holiday');
  await a.client.createNote({ title: 'packing', text: 'tent' });
  t.true(await a.client.sync());
  await a.vaults.moveIn('holiday', 'packing');
  t.true(await a.client.sync());
  await a.vaults.invite('holiday', 'Bob', 'write');
  await until(async () => (await b.client.sync()) && (await b.vaults.invites()).length > 0);
  await b.vaults.acceptInvite();
  t.true(await b.client.sync());
  t.true(await a.client.sync());

  const installation = await sqliteInstallation(t);
  const holders = [
    { email: ann.email, serverPassword: a.serverPassword },
    { email: bob.email, serverPassword: b.serverPassword },
  ];
  await copyToInstallation(old.serverUrl, holders, installation.there);
  await old.close();

  const world = await movedWorld(t, installation);

  const [c, d] = [await world.device('c', style), await world.device('d', style)];
  t.is(await c.client.signIn(ann), undefined);
  t.is(await d.client.signIn(bob), undefined);
  const notes = [
    { title: 'diary', text: 'second', vault: null, lastEditedBy: null },
    { title: 'packing', text: 'tent', vault: 'holiday', lastEditedBy: 'Me' },
  ];
  t.deepEqual(await c.vaults.notes(), notes);
  t.deepEqual(await d.vaults.notes(), [
    { title: 'packing', text: 'tent', vault: 'holiday', lastEditedBy: 'Ann' },
  ]);
  t.is(await c.client.undecryptableItemCount(), 0);
  t.is(await d.client.undecryptableItemCount(), 0);
  t.true(await c.client.isInSync());
  const texts: string[] = [];
  for (const { uuid } of await c.client.revisions(diary)) {
    texts.push(await c.client.revisionText({ itemUuid: diary, revisionUuid: uuid }));
  }
  t.deepEqual(texts, ['second', 'first']);

  await c.client.editNote(diary, 'third');
  t.true(await c.client.sync());
  const [packing] = (await d.client.notes()).filter(({ title }) => title === 'packing');
  await d.client.editNote(packing?.uuid ?? '', 'tent, stove');
  t.true(await d.client.sync());
  await until(async () => (await c.client.sync()) && (await c.vaults.notes()).length === 2);
  t.deepEqual(
    (await c.vaults.notes()).map(({ text }) => text),
    ['third', 'tent, stove'],
    'without a conflict, which would be a note more',
  );
  t.true(await c.client.isInSync());
  t.deepEqual(world.serverFailures, []);
});

test('where the address stays, an app asks for the password once, and brings what was written meanwhile', async (t) => {
  t.timeout(limitMs);
  const old = await World.open();
  t.teardown(() => old.close());
  const phone = await old.device('phone', { ...style, pageOrigin: 'same' });
  await phone.client.register(ann);
  const diary = await phone.client.createNote({ title: 'diary', text: 'first' });
  await phone.client.createNote({ title: 'shopping', text: 'bread' });
  t.true(await phone.client.sync());
  const installation = await sqliteInstallation(t);
  const holder = { email: ann.email, serverPassword: phone.serverPassword };
  await copyToInstallation(old.serverUrl, [holder], installation.there);
  const world = await movedWorld(t, installation);

  old.leadTo(world.serverUrl);
  await phone.client.editNote(diary, 'written meanwhile');
  await Promise.all([phone.client.askedForCredentials(), phone.client.sync()]);
  await phone.client.answerCredentials(ann);
  t.true(await phone.client.sync());
  const laptop = await world.device('laptop', style);
  t.is(await laptop.client.signIn(ann), undefined);
  const notes = (await laptop.client.notes()).map(({ title, text }) => [title, text]).toSorted();
  const expected = [
    ['diary', 'written meanwhile'],
    ['shopping', 'bread'],
  ];
  t.deepEqual(notes, expected, 'without a conflict, which would be a note more');
  t.true(await phone.client.isInSync());
  t.is(await phone.client.undecryptableItemCount(), 0);
  await phone.client.editNote(diary, 'and later');
  t.true(await phone.client.sync());
  t.true(await laptop.client.sync());
  t.true((await laptop.client.notes()).some(({ text }) => text === 'and later'));
  t.deepEqual(world.serverFailures, []);
});
