import test from 'ava';
import type { View } from '../runtime/command.ts';
import { table } from '../runtime/table.ts';
import { rivalOf } from './transfer.ts';

const parcel = table({
  name: 'parcel',
  columns: { owner: 'text', parcel: 'text', hop: 'int8' },
  key: ['owner', 'parcel'],
  unique: [['parcel', 'hop']],
});

const next = { parcel: 'p', hop: 2 };

/** A turn of `ada` that runs again, as her commit met the row of this owner, or for another reason. */
function rivalOfAda(owner: string | undefined): string | undefined {
  const conflicting = () => (owner === undefined ? undefined : { owner, ...next });
  const view = { self: { kind: 'user', id: 'ada' }, conflicting } as unknown as View;
  return rivalOf(view, parcel, next)?.owner;
}

test('only a row of another owner shows that the target has what moves', (t) => {
  t.is(rivalOfAda('ben'), 'ben');
  t.is(rivalOfAda('ada'), undefined);
  t.is(rivalOfAda(undefined), undefined);
});
