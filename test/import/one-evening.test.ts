/** The page for those who move in (docs/import.md), typed as it stands there. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { encryptionServerKey, someTime } from './installation.ts';
import { firstSync, signInWith, startMove } from './moving.ts';

const { look, bulk, rest, compare } = commandsOf('docs/import.md', 'One evening', [
  'look',
  'bulk',
  'rest',
  'compare',
]);

test('a self-hoster moves in one evening by the page', async (t) => {
  const move = await startMove(t);
  const { there, folder } = move;
  writeFileSync(join(folder, '.env'), `DB_TYPE=sqlite\nENCRYPTION_SERVER_KEY=${encryptionServerKey}\n`);
  const typed = (command: string) => {
    const [runner, program, ...args] = replaced(command, { '/srv/notes': folder }).trim().split(/ +/);
    t.deepEqual([runner, program], ['npx', 'scriptorium']);
    return move.whileClosed(() => move.run(...args, '--report', move.reportFile));
  };
  const ada = await there.user('ada@example.org');
  const note = await there.item(ada.uuid);
  const gone = await there.item(ada.uuid);
  await there.revision(note, ada.uuid, '2023-11-14 22:13:20.123');
  const name = randomUUID();
  mkdirSync(join(folder, 'uploads', ada.uuid), { recursive: true });
  writeFileSync(join(folder, 'uploads', ada.uuid, name), randomBytes(9_000_000));

  const looked = await typed(look);
  t.like(looked, { code: 0 });
  t.regex(looked.out, /^items +2 +2 +0 +0$/m);
  t.is((await move.run('user', 'find', 'ada@example.org')).code, 1, 'nothing is written');

  t.like(await typed(bulk), { code: 0 });
  t.is((await signInWith(move, 'ada@example.org')).status, 401);
  // The other server goes on for a while.
  await there.run('UPDATE items SET content = ?, updated_at_timestamp = ? WHERE uuid = ?', [
    '004:later',
    someTime + 5,
    note,
  ]);
  await there.run('DELETE FROM items WHERE uuid = ?', [gone]);
  const added = await there.item(ada.uuid);

  const moved = await typed(rest);
  t.like(moved, { code: 0 });
  t.regex(moved.out, /^items +2 +2 +0 +0$/m);
  t.like(await typed(compare), { code: 0 });

  const { first, get } = await firstSync(move, 'ada@example.org');
  const contents = first.retrieved_items.map(({ content }: { content: string }) => content);
  t.deepEqual(contents.toSorted(), [`004:${added}`, '004:later'].toSorted());
  const { revisions: history } = (await get(`/v2/items/${note}/revisions`)).body;
  t.is(history.length, 1);
  t.is(history[0].created_at, '2023-11-14T22:13:20.123Z');
});
