/** The lists are numbered, and released entries never change, because databases have them. */
import test from 'ava';
import { domainMigrations } from '../../../actors/migrations.ts';
import { migrations } from '../../../process/schema.ts';
import type { Migration } from '../../../runtime/migration.ts';
import { runtimeMigrations } from '../../../runtime/store/postgres/migrations.ts';
import { releasedLine, releasedLines } from './released.ts';

/** Migrations of a release that this list has differently or not at all. */
const changed = (released: readonly string[], list: readonly Migration[]): readonly string[] =>
  released.filter((line) => !list.map(releasedLine).includes(line));

for (const [name, list] of Object.entries({ runtime: runtimeMigrations, domain: domainMigrations })) {
  test(`the migrations of the ${name} are numbered without a gap`, (t) => {
    for (const [index, { id }] of list.entries())
      t.true(id.startsWith(`${name}-${String(index + 1).padStart(4, '0')}-`), id);
  });
}

test('no released migration has changed', (t) => {
  t.deepEqual(changed(releasedLines, migrations), []);
});

test('a released migration that changes, goes or gets another number is noticed, and another layout is not', (t) => {
  const [first, second] = [
    { id: 'domain-0001-note', sql: 'CREATE TABLE IF NOT EXISTS note (id text)' },
    { id: 'domain-0002-tag', sql: 'CREATE TABLE IF NOT EXISTS tag (id text)' },
  ] as const;
  const released = [first, second].map(releasedLine);
  const laidOut = { ...first, sql: first.sql.replace('(id', '\n  (id') };
  t.deepEqual(changed(released, [laidOut, second, { ...second, id: 'domain-0003-more' }]), []);
  for (const wrong of [{ ...second, sql: first.sql }, { ...second, id: 'domain-0003-tag' }, first])
    t.deepEqual(changed(released, [first, wrong]), [releasedLine(second)]);
});
