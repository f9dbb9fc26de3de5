/** The page for those who move in (docs/import.md), typed as it stands there. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { shell } from '../kit/shell.ts';
import { encryptionServerKey, someTime } from './installation.ts';
import { firstSync, signInWith, startMove, startMoveFromMariadb } from './moving.ts';

const { makeFolder, copy, look, bulk, rest, compare } = commandsOf('docs/import.md', 'One evening', [
  'makeFolder',
  'copy',
  'look',
  'bulk',
  'rest',
  'compare',
  'examine',
]);
const { fromMysql } = commandsOf('docs/import.md', 'From MySQL or MariaDB', ['fromMysql']);
const { writeDown } = commandsOf('docs/import.md', 'If you go back', ['writeDown']);

/** The arguments of a command of the page. */
function argumentsOf(t: ExecutionContext, command: string): readonly string[] {
  const [runner, program, ...args] = command.trim().split(/ +/);
  t.deepEqual([runner, program], ['npx', 'scriptorium']);
  return args;
}

test('a self-hoster moves in one evening by the page', async (t) => {
  const move = await startMove(t);
  const { there, folder } = move;
  const copied = `${folder}-copy`;
  t.teardown(() => rmSync(copied, { recursive: true, force: true }));
  writeFileSync(join(folder, '.env'), `DB_TYPE=sqlite\nENCRYPTION_SERVER_KEY=${encryptionServerKey}\n`);
  const here = (command: string) => command.replaceAll('/srv/notes', folder);
  const typed = (command: string) =>
    move.whileClosed(() => move.run(...argumentsOf(t, here(command)), '--report', move.reportFile));
  const ada = await there.user('ada@example.org');
  const note = await there.item(ada.uuid);
  const gone = await there.item(ada.uuid);
  await there.revision(note, ada.uuid, '2023-11-14 22:13:20.123');
  const name = randomUUID();
  mkdirSync(join(folder, 'uploads', ada.uuid), { recursive: true });
  writeFileSync(join(folder, 'uploads', ada.uuid, name), randomBytes(9_000_000));

  await move.whileClosed(() => shell(here(`${makeFolder}\n${copy}`), { cwd: folder }));
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

  const file = join(folder, 'ada.txt');
  const own = argumentsOf(t, replaced(writeDown, { 'alice@example.org': 'ada@example.org' }));
  t.like(await move.run(...own, '--out', file), { code: 0 });
  const { items } = JSON.parse(readFileSync(file, 'utf8'));
  t.deepEqual(items.map(({ uuid }: { uuid: string }) => uuid).toSorted(), [note, added].toSorted());
});

test('a self-hoster with a MariaDB looks at what would come by the page', async (t) => {
  t.timeout(120_000);
  const move = await startMoveFromMariadb(t);
  const { there, folder, from, passwordFile = '' } = move;
  writeFileSync(
    join(folder, '.env'),
    `DB_TYPE=mysql\nAUTH_SERVER_ENCRYPTION_SERVER_KEY=${encryptionServerKey}\n`,
  );
  mkdirSync(join(folder, 'uploads'));
  const ada = await there.user('ada@example.org');
  await there.item(ada.uuid);
  const command = replaced(fromMysql, {
    'mysql://std_notes_user@127.0.0.1:3306/standard_notes_db': from,
    '/srv/notes/password': passwordFile,
    '/srv/notes/': `${folder}/`,
  });
  const looked = await move.run(...argumentsOf(t, command), '--report', move.reportFile);
  t.like(looked, { code: 0 });
  t.regex(looked.out, /^items +1 +1 +0 +0$/m);
});
