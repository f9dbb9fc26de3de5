/**
 * Compares the whole interface that clients know with the served routes. Every row has a route and a test, and every promise in
 * words has a test. This notices a test that is renamed or removed.
 */
import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import { bare, servedEndpoints } from '../../tools/endpoints-document.ts';
import { beside } from './beside.ts';
import { differences } from './differences.ts';
import type { Proof } from './promise.ts';
import { promises } from './promises.ts';
import { rows } from './rows.ts';

const all = Object.values(rows).flatMap((area) => Object.entries(area));
const root = new URL('../../', import.meta.url);
const texts = new Map<string, string>();

/** The titles of tests in a file are literals after the name of the function. */
function isThere([file, title]: Proof): boolean {
  const path = new URL(file, root);
  if (!texts.has(file)) texts.set(file, existsSync(path) ? readFileSync(path, 'utf8') : '');
  const text = texts.get(file) ?? '';
  return [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``].some((literal) =>
    new RegExp(`test(?:\\.serial)?\\(\\s*${escaped(literal)},`).test(text),
  );
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

test('every row of the interface is served', (t) => {
  const served = servedEndpoints();
  const missing = all.map(([row]) => row).filter((row) => !served.has(bare(row)));
  t.deepEqual(missing, []);
  t.is(new Set(all.map(([row]) => bare(row))).size, all.length);
  t.is(all.length, 159);
});

test('an endpoint beside the rows has its reason, or is known and not offered', (t) => {
  const document = readFileSync(new URL('docs/protocol/not-offered.md', root), 'utf8');
  const notOffered = [...document.matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, row = '']) => row);
  const known = new Set([...all.map(([row]) => row), ...Object.keys(beside), ...notOffered].map(bare));
  // Everything below the calendar's own path is DAV, and files are also below /files.
  const isElsewhere = (row: string) => / \/(?:files\/v1|dav)\b/.test(row);
  t.deepEqual(
    [...servedEndpoints()].filter((row) => !known.has(row) && !isElsewhere(row)),
    [],
  );
});

test('every row is proven by a test that is there', (t) => {
  t.deepEqual(
    all.filter(([, proof]) => !isThere(proof)),
    [],
  );
});

test('every promise in words is proven by tests that are there, and told once', (t) => {
  const without = promises.filter(({ provenBy }) => provenBy.length === 0);
  t.deepEqual(without, []);
  t.deepEqual(
    promises.flatMap(({ provenBy }) => provenBy).filter((proof) => !isThere(proof)),
    [],
  );
  t.is(new Set(promises.map(({ says }) => says)).size, promises.length);
});

test('a deliberate difference has its reason, and its replacement is proven', (t) => {
  for (const { because, instead, provenBy = [] } of differences) {
    t.true(because.length > 20 && instead.length > 20, instead);
    t.deepEqual(
      provenBy.filter((proof) => !isThere(proof)),
      [],
    );
  }
});

test('a proof is found by file and title, and by neither alone', (t) => {
  const [here, title] = ['test/interface/interface.test.ts', 'every row of the interface is served'];
  t.true(isThere([here, title]));
  t.false(isThere([here, `${title} by nobody`]));
  t.false(isThere(['test/interface/no.test.ts', title]));
  t.false(isThere([here, 'by nobody']));
});
