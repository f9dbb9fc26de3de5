import test from 'ava';
import type { Turn, View } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { revisionUsageSlice } from '../../collection/revisions/usage.ts';
import { statusSlice } from '../state.ts';
import { tearDownTimer } from './tear-down.ts';

const timer = tearDownTimer(() => []);

/** A vault that has ended, with so many items, as a turn finds it. */
function ended(items: number, did: string[] = []) {
  const slices = new Map<string, unknown>([
    [head.name, { ...head.initial, items }],
    [revisionUsageSlice.name, { ...revisionUsageSlice.initial, endOffset: 3_000 }],
    [statusSlice.name, 'ended'],
  ]);
  const note = (what: string) => () => did.push(what);
  return {
    get: (of: { readonly name: string; readonly initial: unknown }) => slices.get(of.name) ?? of.initial,
    entries: () => new Map(),
    arm: note('wait'),
    remove: note('remove'),
    tombstone: note('end'),
  } as unknown as Turn & View;
}

test('a vault that loses its last item after its end was planned takes its history along', (t) => {
  const did: string[] = [];
  const plans = timer.reads?.(ended(1), null);
  const limit = plans?.revisions.limit ?? 0;
  // As is answered, of two that are there.
  const rows = ['a', 'b'].slice(0, limit).map((item_uuid) => ({ item_uuid, slot: 0 }));
  const complete = limit === 0 || limit >= 2;
  timer.turn(ended(0, did), null, { revisions: { rows, complete } } as never);
  t.deepEqual(did, complete ? ['remove', 'remove', 'end'] : ['remove', 'wait']);
});
