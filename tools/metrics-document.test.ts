import { readFileSync } from 'node:fs';
import test from 'ava';
import { metricsDocument } from './metrics-document.ts';

test('every metric of the project has its prefix', (t) => {
  const names = [...metricsDocument().matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);
  t.true(names.length > 50);
  t.deepEqual(
    names.filter((name) => !name.startsWith('scriptorium_')),
    [],
  );
});

test('docs/metrics.md is what `npm run docs` writes now', (t) => {
  t.is(readFileSync(new URL('../docs/metrics.md', import.meta.url), 'utf8'), metricsDocument());
});
