import { readFileSync } from 'node:fs';
import test from 'ava';
import { everySetting } from '../../runtime/setting.ts';
import { document } from './document.ts';
import { secretSettings, settings } from './settings.ts';

test('docs/configuration.md is what `npm run docs` writes now', (t) => {
  t.is(readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8'), document());
});

test('every setting is described once, in a sentence', (t) => {
  const all = everySetting({ settings, secretSettings });
  t.is(new Set(all.map(({ name }) => name)).size, all.length);
  for (const { name, description, section } of all) {
    t.regex(description, /\.$/, name);
    t.not(section, '', name);
    t.is(document().split(`\n| \`${name}\` `).length, 2, name);
  }
});
