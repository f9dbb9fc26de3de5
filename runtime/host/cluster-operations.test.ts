import test from 'ava';
import { lookup } from '../command.ts';
import { DatabaseUnavailableError, RetryableError } from '../errors.ts';
import { StoreError, type StoreFailure } from '../store/store.ts';
import { table } from '../table.ts';
import type { Hint } from '../transport/transport.ts';
import { createClusterOperations, createLookups } from './cluster-operations.ts';

/** A store of which everything fails so. */
const failing = (failure: StoreFailure) =>
  new Proxy({} as never, {
    get: () => async () => {
      throw new StoreError(failure, 'in words of its own');
    },
  });

async function failureOf(failure: StoreFailure): Promise<unknown> {
  const calls = createClusterOperations({ store: failing(failure), transport: { hint() {} } });
  return calls.backlog(1).catch((error: unknown) => error);
}

test('failures of the store are reported as what operators can act on', async (t) => {
  for (const failure of ['unavailable', 'conflict'] as const) {
    const error = await failureOf(failure);
    t.true(error instanceof DatabaseUnavailableError, failure);
    t.like(error, { class: 'unavailable', retryAfterMs: 2_000 });
  }
  const lost = await failureOf('unknown');
  t.true(lost instanceof RetryableError);
  t.like(lost, { outcome: 'unknown' });
  for (const failure of ['defect', 'rejected'] as const)
    t.true((await failureOf(failure)) instanceof StoreError);
});

test('only a drain of a live node is announced to the others', async (t) => {
  const hints: Hint[] = [];
  const hint = (sent: Hint) => void hints.push(sent);
  for (const isThere of [false, true]) {
    const store = { setDraining: async () => isThere } as never;
    t.is(await createClusterOperations({ store, transport: { hint } }).setDraining('a', true), isThere);
  }
  t.deepEqual(hints, [{ hint: 'nodes' }]);
});

const notes = table({
  name: 'note',
  columns: { owner: 'uuid', word: 'text' },
  key: ['owner'],
  unique: [['word']],
});

test('a look-up asks by the key it names, and not at all where it names none', async (t) => {
  const requests: unknown[] = [];
  const row = { owner: 'a', word: 'b' };
  const lookups = createLookups({
    read: async (reads) => {
      requests.push(...reads);
      return [{ rows: [row], complete: true }];
    },
  });
  t.deepEqual(await lookups.find(lookup(notes, [{ word: 'b' }])), { rows: [row], complete: true });
  t.deepEqual(await lookups.find(lookup(notes, [])), { rows: [], complete: true });
  t.deepEqual(requests, [{ read: 'lookup', table: notes, unique: ['word'], values: [{ word: 'b' }] }]);
});
