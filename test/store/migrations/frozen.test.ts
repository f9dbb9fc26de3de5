/**
 * What was merged stays as it is: databases have it. `checksums.txt` holds the digest of each migration, and of each
 * released state that upgrades are tried from; a new one adds its line, which this test tells, and no line ever changes.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import test from 'ava';
import { domainMigrations } from '../../../actors/migrations/list.ts';
import type { Migration } from '../../../runtime/migration.ts';
import { runtimeMigrations } from '../../../runtime/store/postgres/migrations/list.ts';

const sequences = [
  { name: 'runtime', folder: 'runtime/store/postgres/migrations', migrations: runtimeMigrations },
  { name: 'domain', folder: 'actors/migrations', migrations: domainMigrations },
] as const;

const fileAt = (path: string) => new URL(path, import.meta.url);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Over what databases see of it: how the file is written otherwise does not matter. */
const lineOf = ({ id, formerly, sql }: Migration) =>
  `${sha256(JSON.stringify([id, formerly ?? null, sql]))}  ${id}`;

for (const { name, folder, migrations } of sequences) {
  test(`the migrations of the ${name} are numbered without a gap, each in a file of its name`, async (t) => {
    const files = (await readdir(fileAt(`../../../${folder}`))).filter((file) => file !== 'list.ts').sort();
    t.deepEqual(
      migrations.map(({ id }) => `${id.replace(`${name}-`, '')}.ts`),
      files,
    );
    for (const [index, { id }] of migrations.entries())
      t.true(id.startsWith(`${name}-${String(index + 1).padStart(4, '0')}-`), id);
  });
}

test('no migration and no released state has changed', async (t) => {
  const names = (await readdir(fileAt('released'))).sort();
  const states = await Promise.all(
    names.map(async (name) => `${sha256(await readFile(fileAt(`released/${name}`), 'utf8'))}  ${name}`),
  );
  const lines = [...sequences.flatMap(({ migrations }) => migrations.map(lineOf)), ...states];
  t.is(`${lines.join('\n')}\n`, await readFile(fileAt('checksums.txt'), 'utf8'));
});
