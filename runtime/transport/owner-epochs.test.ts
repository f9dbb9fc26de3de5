import test from 'ava';
import { MovedError, OverloadedError } from '../errors.ts';
import { assertSameClaim, OwnerEpochs } from './owner-epochs.ts';

test('the newest epoch of a shard counts, whichever order the hints of claims come in', (t) => {
  const epochs = new OwnerEpochs();
  t.is(epochs.of(1), 0);
  epochs.claimed([1, 2], 5);
  epochs.claimed([1], 4);
  epochs.claimed([2], 6);
  epochs.claimed([1, 2], undefined);
  t.deepEqual([epochs.of(1), epochs.of(2), epochs.of(3)], [5, 6, 0]);
});

test('a call that was for no owner is sent again at once, for the owner who refused it', (t) => {
  const epochs = new OwnerEpochs();
  t.true(epochs.refused(1, 0, new MovedError('another claim', { epoch: 5 })));
  t.is(epochs.of(1), 5);
});

test('a call for an earlier owner may have taken effect there: it is not sent again as if it had not', (t) => {
  const epochs = new OwnerEpochs();
  epochs.claimed([1], 5);
  t.false(epochs.refused(1, 5, new MovedError('another claim', { epoch: 6 })));
  t.is(epochs.of(1), 6);
});

test('a refusal that names no claim changes nothing', (t) => {
  const epochs = new OwnerEpochs();
  const refusals = [
    new MovedError('nobody'),
    new MovedError('no claim at all', { epoch: 0 }),
    new OverloadedError('later'),
  ];
  for (const refusal of refusals) t.false(epochs.refused(1, 0, refusal));
  t.is(epochs.of(1), 0);
});

test('a call passes for the own claim, or if it names none, and learns of the own claim otherwise', (t) => {
  t.notThrows(() => assertSameClaim(5, 5));
  t.notThrows(() => assertSameClaim(5, undefined));
  for (const named of [0, 4, 6])
    t.is(t.throws(() => assertSameClaim(5, named), { instanceOf: MovedError })?.epoch, 5);
});
