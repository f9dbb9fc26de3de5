import test from 'ava';
import { numbered, owningVaultOf } from './items.ts';

const key = (uuid: string, createdAtMs?: number) => ({ uuid, itemUuid: 'item', createdAtMs, bytes: 1 });
const uuidsOf = (keys: readonly { readonly uuid: string }[]) => keys.map(({ uuid }) => uuid);

test('revisions are numbered by their times, and by their uuids where those are the same', (t) => {
  const { newest, left } = numbered([key('c', 2), key('b', 1), key('a', 2)], () => 0, 100);
  t.deepEqual(uuidsOf(newest), ['b', 'a', 'c']);
  t.deepEqual(
    newest.map(({ number }) => number),
    [0, 1, 2],
  );
  t.deepEqual(left, []);
});

test('the newest revisions stay where a source has more than an item keeps', (t) => {
  const { newest, left } = numbered([key('a', 1), key('b', 2), key('c', 3)], () => 0, 2);
  t.deepEqual(uuidsOf(newest), ['b', 'c']);
  t.deepEqual(uuidsOf(left), ['a']);
});

test('a revision without a time has that of its item', (t) => {
  const { newest } = numbered([key('a'), key('b', 4), key('c', 6)], () => 5, 100);
  t.deepEqual(uuidsOf(newest), ['b', 'a', 'c']);
});

test('an item of a vault that is not there is its creator’s', (t) => {
  const vaults = new Map([['there', 'here' as const]]);
  t.is(owningVaultOf({ vaultUuid: 'there' }, vaults), 'there');
  t.is(owningVaultOf({ vaultUuid: 'gone' }, vaults), undefined);
  t.is(owningVaultOf({ vaultUuid: undefined }, vaults), undefined);
});
