import { readFileSync } from 'node:fs';
import test from 'ava';
import { bare, endpointsDocument, servedEndpoints } from './endpoints-document.ts';
import { httpInterface, toCome } from './http-interface.ts';

test('every row of the interface has a route or is said to be to come, and none has both', (t) => {
  const served = servedEndpoints();
  const all = Object.values(httpInterface).flat();
  t.is(new Set(all).size, all.length);
  const missing = all.filter((endpoint) => !served.has(bare(endpoint)));
  t.deepEqual(missing, [...toCome]);
});

test('the document is what the routes make of it', (t) => {
  const written = readFileSync(new URL('../docs/endpoints.md', import.meta.url), 'utf8');
  t.is(written, endpointsDocument());
});
