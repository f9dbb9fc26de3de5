import test from 'ava';
import { UnchangedSinceMarkers } from './unchanged-since.ts';

const address = (id: string) => ({ kind: 'house', id });
const actor = (id: string, epoch = 1) => ({ address: address(id), shard: 3, epoch });

test('a marker holds until the actor changes something, and the next is another', (t) => {
  const markers = new UnchangedSinceMarkers({ epochOf: () => 1 });
  t.is(markers.of(address('a')), undefined);
  markers.set(actor('a'));
  const first = markers.of(address('a'));
  if (first === undefined) return t.fail();
  markers.set(actor('a'));
  t.is(markers.of(address('a')), first);
  markers.clear(actor('a'));
  t.false(markers.holds(first));
  t.is(markers.of(address('a')), undefined);
  markers.set(actor('a'));
  t.not(markers.of(address('a')), first);
  t.false(markers.holds(first));
});

test('with the shard goes what was known of its actors, also where it comes back', (t) => {
  let epoch: number | undefined = 1;
  const markers = new UnchangedSinceMarkers({ epochOf: () => epoch });
  markers.set(actor('a'));
  const before = markers.of(address('a'));
  if (before === undefined) return t.fail();
  epoch = undefined;
  t.false(markers.holds(before));
  epoch = 2;
  t.false(markers.holds(before));
  t.is(markers.of(address('a')), undefined);
  markers.set(actor('a', 2));
  t.not(markers.of(address('a')), undefined);
});

test('where there are too many, the oldest is dropped and counts as cleared', (t) => {
  const markers = new UnchangedSinceMarkers({ epochOf: () => 1, markersMax: 2 });
  markers.set(actor('a'));
  const first = markers.of(address('a'));
  markers.set(actor('b'));
  markers.set(actor('c'));
  t.is(markers.size, 2);
  t.true(first?.isCleared);
  t.not(markers.of(address('b')), undefined);
});
