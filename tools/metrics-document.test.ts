import { readFileSync } from 'node:fs';
import test from 'ava';
import { metricsDocument } from './metrics-document.ts';

test('docs/metrics.md is what `npm run docs` writes now', (t) => {
  t.is(readFileSync(new URL('../docs/metrics.md', import.meta.url), 'utf8'), metricsDocument());
});
