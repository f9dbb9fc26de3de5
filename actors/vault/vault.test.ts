import test from 'ava';
import { sliceName } from '../../runtime/part.ts';
import { vault, vaultParts } from './vault.ts';

/** Parts with a table that do nothing when the vault ends, and why. */
const endedOtherwise: Readonly<Record<string, string>> = {
  membership: 'raises the hooks, and removes its own rows in the commit that ends the vault',
};

test('every part that has a table says what becomes of its rows when the vault ends', (t) => {
  const withTable = vaultParts.filter(({ tables }) => tables.length > 0);
  t.is(withTable.length, 3);
  const silent = withTable.filter(({ on }) => on.ended === undefined || on.hasRemains === undefined);
  t.deepEqual(
    silent.map(({ name }) => name),
    Object.keys(endedOtherwise),
  );
});

test('every slice and every table of the kind belongs to exactly one part', (t) => {
  for (const of of [...vault.slices, ...vault.tables]) {
    const owners = vaultParts.filter(({ slices, tables }) =>
      [...slices, ...tables].some((each) => each === of),
    );
    t.is(owners.length, 1, 'columns' in of ? of.name : sliceName(of));
  }
});
