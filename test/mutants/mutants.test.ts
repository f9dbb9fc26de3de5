import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { allMutants } from './mutant.ts';
import { partOf } from './rotation.ts';
import { locationOf } from './source-location.ts';
import { meets, titlesOf } from './titles.ts';

const names = (mutants: readonly { readonly name: string }[]) => mutants.map(({ name }) => name);

test('there are at least a hundred, each named after its own harm', async (t) => {
  const mutants = await allMutants();
  t.true(mutants.length >= 100);
  t.is(new Set(names(mutants)).size, mutants.length);
  for (const { name, harm, find, replace } of mutants) {
    t.regex(name, /^[a-z0-9]+(-[a-z0-9]+)+$/);
    t.regex(harm, /^\S.*\.$/, name);
    t.not(find, replace, name);
  }
});

test('the text that a mutant changes is in one place of the sources, and TypeScript before and after', async (t) => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const lost = (await allMutants())
    .map((mutant) => ({ name: mutant.name, location: locationOf(root, mutant) }))
    .filter(({ location }) => typeof location === 'string');
  t.deepEqual(lost, []);
});

test('every match meets a title of its tests', async (t) => {
  const mutants = await allMutants();
  const titles = await titlesOf([...new Set(mutants.flatMap(({ tests }) => tests))]);
  const lost = mutants.filter(
    ({ tests, match = '*' }) => !tests.some((file) => titles.get(file)?.some((title) => meets(title, match))),
  );
  t.deepEqual(
    lost.map(({ name, match }) => `${name}: ${match}`),
    [],
  );
});

test('every mutant has its turn, and no run has many', async (t) => {
  const mutants = await allMutants();
  const parts = Array.from({ length: 1_000 }, (_, commit) =>
    partOf(mutants, commit.toString(16).padStart(8, '0')),
  );
  t.deepEqual([...new Set(parts.flatMap(names))].toSorted(), names(mutants));
  for (const part of parts) t.true(part.length > 0 && part.length <= 12);
});

test('a commit decides, whatever follows its first characters', async (t) => {
  const mutants = await allMutants();
  t.deepEqual(partOf(mutants, 'deadbeef0\n'), partOf(mutants, 'deadbeef1'));
});

test('none needs a browser, a broker or another program', async (t) => {
  const mutants = await allMutants();
  for (const file of new Set(mutants.flatMap(({ tests }) => tests))) {
    const text = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
    t.notRegex(text, /from '.*(?:nats-server|postgres|chromium|built-server|started-server)\.ts'/, file);
  }
});
