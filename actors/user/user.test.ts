import test from 'ava';
import { sliceName } from '../../runtime/part.ts';
import { user, userParts } from './user.ts';

/** Parts with a table that no hook of theirs empties, and why. */
const emptiedOtherwise: Readonly<Record<string, string>> = {
  account: 'raises the hooks, and removes its own row in the commit that deletes the account',
};

test('every part that has a table says what becomes of its rows when the account is deleted', (t) => {
  const withTable = userParts.filter(({ tables }) => tables.length > 0);
  t.true(withTable.length > 5);
  const silent = withTable
    .filter(
      ({ on }) => on.accountDeleted === undefined && on.purgeFirst === undefined && on.purge === undefined,
    )
    .map(({ name }) => name);
  t.deepEqual(silent, Object.keys(emptiedOtherwise));
});

test('every slice and every table of the kind belongs to exactly one part', (t) => {
  for (const of of [...user.slices, ...user.tables]) {
    const owners = userParts.filter(({ slices, tables }) =>
      [...slices, ...tables].some((each) => each === of),
    );
    t.is(owners.length, 1, 'columns' in of ? of.name : sliceName(of));
  }
});
