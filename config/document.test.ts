import { readFileSync } from 'node:fs';
import test from 'ava';
import { document } from './document.ts';
import type { AnySetting } from './setting.ts';
import { settings } from './settings.ts';

test('docs/configuration.md is what `npm run docs` writes now', (t) => {
  t.is(readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8'), document());
});

test('every setting is described in a sentence', (t) => {
  for (const [name, { description }] of Object.entries<AnySetting>(settings)) {
    t.regex(description, /\.$/, name);
    t.true(document().includes(`| \`${name}\` |`), name);
  }
});
