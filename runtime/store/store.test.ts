import test from 'ava';
import { letterTable, memberTable, uuid } from '../../test/store/tables.ts';
import { hasNoParts, putOver, type Write, wholeCharactersMax } from './store.ts';

const letter = (body: string | null) => ({ owner_uuid: uuid(1), name: 'a', body });

const put = (body: string, hadNoParts: boolean): Extract<Write, { readonly put: unknown }> => ({
  table: letterTable,
  put: letter(body),
  isNew: false,
  hadNoParts,
});

test('of two puts in one commit, the first says whether the key had parts', (t) => {
  t.like(putOver(put('first', false), put('second', true)), { put: letter('second'), hadNoParts: false });
  t.like(putOver(put('first', true), put('second', false)), { put: letter('second'), hadNoParts: true });
  t.true(putOver(undefined, put('alone', true)).hadNoParts);
});

test('a put over a removal in one commit does not say that the key had no parts', (t) => {
  t.not(putOver({ table: letterTable, remove: letter('gone') }, put('new', true)).hadNoParts, true);
});

test('a row has no parts if its large value is small or null, and may have some if it was not read', (t) => {
  t.true(hasNoParts(letterTable, letter('x'.repeat(wholeCharactersMax))));
  t.true(hasNoParts(letterTable, letter(null)));
  t.false(hasNoParts(letterTable, letter('x'.repeat(wholeCharactersMax + 1))));
  t.false(hasNoParts(letterTable, { owner_uuid: uuid(1), name: 'a' }));
  t.true(hasNoParts(memberTable, { owner_uuid: uuid(1), member_uuid: uuid(2), since: 1 }));
});
