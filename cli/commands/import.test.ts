import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { startApi } from '../../test/kit/internal-api.ts';
import { operate } from '../../test/kit/operator.ts';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';
import { createSpool } from '../import/source/spool.ts';

test('a database is closed if that of the revisions cannot be opened', async (t) => {
  const api = await startApi(t);
  const folder = temporaryFolder(t);
  const database = join(folder, 'home.sqlite');
  (await createSpool(database, 1_048_576)).close();
  const source = ['--from', `sqlite:${database}`, '--revisions-from', `sqlite:${join(folder, 'none')}`];
  const { code, err } = await operate(api, 'import', 'verify', ...source);
  t.is(code, 64);
  t.regex(err, /There is no file/);
  // An open database has this folder beside it.
  t.false(existsSync(`${database}.lock`));
});
