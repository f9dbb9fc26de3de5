import test from 'ava';
import { Lulls } from './lulls.ts';

const address = (id: string) => ({ kind: 'house', id });
const actor = (id: string, epoch = 1) => ({ address: address(id), shard: 3, epoch });

test('a lull lasts until the actor changes something, and the next is another', (t) => {
  const lulls = new Lulls({ epochOf: () => 1 });
  t.is(lulls.of(address('a')), undefined);
  lulls.begin(actor('a'));
  const first = lulls.of(address('a'));
  if (first === undefined) return t.fail();
  lulls.begin(actor('a'));
  t.is(lulls.of(address('a')), first);
  lulls.end(actor('a'));
  t.false(lulls.lasts(first));
  t.is(lulls.of(address('a')), undefined);
  lulls.begin(actor('a'));
  t.not(lulls.of(address('a')), first);
  t.false(lulls.lasts(first));
});

test('with the shard goes what was known of its actors, also where it comes back', (t) => {
  let epoch: number | undefined = 1;
  const lulls = new Lulls({ epochOf: () => epoch });
  lulls.begin(actor('a'));
  const before = lulls.of(address('a'));
  if (before === undefined) return t.fail();
  epoch = undefined;
  t.false(lulls.lasts(before));
  epoch = 2;
  t.false(lulls.lasts(before));
  t.is(lulls.of(address('a')), undefined);
  lulls.begin(actor('a', 2));
  t.not(lulls.of(address('a')), undefined);
});

test('where there are too many, the one that began first is forgotten and counts as over', (t) => {
  const lulls = new Lulls({ epochOf: () => 1, lullsMax: 2 });
  lulls.begin(actor('a'));
  const first = lulls.of(address('a'));
  lulls.begin(actor('b'));
  lulls.begin(actor('c'));
  t.is(lulls.size, 2);
  t.true(first?.isOver);
  t.not(lulls.of(address('b')), undefined);
});
