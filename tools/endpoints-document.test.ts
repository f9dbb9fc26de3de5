import { readFileSync } from 'node:fs';
import test from 'ava';
import { endpointsDocument } from './endpoints-document.ts';

test('the document is what the routes make of it', (t) => {
  const written = readFileSync(new URL('../docs/endpoints.md', import.meta.url), 'utf8');
  t.is(written, endpointsDocument());
});
