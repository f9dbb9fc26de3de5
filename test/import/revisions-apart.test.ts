/** Older set-ups keep revisions in a database of their own (`--revisions-from`). */
import { join } from 'node:path';
import test from 'ava';
import { firstSync, startMove } from './moving.ts';
import { sqliteInstallation } from './sqlite.ts';

test('history comes from the database that it has to itself, and is compared with that', async (t) => {
  const move = await startMove(t);
  const { there, folder } = move;
  const history = await sqliteInstallation(t);
  const ada = await there.user('ada@example.org');
  const note = await there.item(ada.uuid);
  await history.there.revision(note, ada.uuid, '2023-11-14 22:13:20.123');
  const options = ['--source-key-file', join(folder, 'key'), '--revisions-from', history.from];
  await history.whileClosed(() => move.pass(options));
  const { get } = await firstSync(move, 'ada@example.org');
  const { revisions } = (await get(`/v2/items/${note}/revisions`)).body;
  t.deepEqual(
    revisions.map(({ created_at: at }: { created_at: string }) => at),
    ['2023-11-14T22:13:20.123Z'],
  );
});

test('without that database no history comes, and a comparison with it says so', async (t) => {
  const move = await startMove(t);
  const { there, folder } = move;
  const history = await sqliteInstallation(t);
  const ada = await there.user('ada@example.org');
  const note = await there.item(ada.uuid);
  await history.there.revision(note, ada.uuid, '2023-11-14 22:13:20.123');
  await move.pass();
  const compare = ['import', 'verify', '--from', move.from, '--source-key-file', join(folder, 'key')];
  const apart = ['--revisions-from', history.from, '--report', move.reportFile];
  const compared = await move.whileClosed(() => history.whileClosed(() => move.run(...compare, ...apart)));
  t.is(compared.code, 65, compared.err);
});
