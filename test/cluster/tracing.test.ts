/** Traces of requests across the processes that take part in them: docs/tracing.md. */
import test from 'ava';
import { startCollector } from '../kit/collector.ts';
import { tracesSaves } from './traced-save.ts';

test('a save through another node than the owner is one trace, from the request to the notice', async (t) => {
  t.timeout(240_000);
  const collector = await startCollector();
  t.teardown(() => collector.stop());
  await tracesSaves(t, collector, collector.url);
  t.is(collector.headers['x-tenant'], 'all notes');
});
