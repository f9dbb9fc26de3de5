import test from 'ava';
import { crossOwner, range } from './command.ts';
import { isStorableText, table } from './table.ts';

const note = table({
  name: 'note',
  columns: { owner: 'text', position: 'int8', deleted: 'bool' },
  key: ['owner', 'position'],
  order: 'position',
  subsets: { live: { indexed: false, column: 'deleted', values: [false] } },
});
const member = table({ name: 'member', columns: { owner: 'text', user: 'text' }, key: ['owner', 'user'] });

test('a plan may name the subsets of its table only, and another name does not compile', (t) => {
  const page = { after: 0, through: 9, limit: 5 };
  t.is(range(note, { ...page, subset: 'live' }).subset, 'live');
  // @ts-expect-error: the table has no such subset
  range(note, { ...page, subset: 'home' });
  // @ts-expect-error: the table has no subsets
  range(member, { ...page, subset: 'live' });
  const membership = { table: member, member: 'ada' };
  crossOwner(note, { membership, limit: 5, owners: [{ owner: 'bob', after: 0, subset: 'live' }] });
  // @ts-expect-error: the table has no such subset
  crossOwner(note, { membership, limit: 5, owners: [{ owner: 'bob', after: 0, subset: 'home' }] });
  table({
    name: 'misspelt',
    columns: { owner: 'text', deleted: 'bool' },
    key: ['owner'],
    // @ts-expect-error: the table has no such column
    subsets: { live: { indexed: false, column: 'delete', values: [false] } },
  });
});

test('text is storable unless it holds a NUL or half of a surrogate pair', (t) => {
  for (const text of ['', 'plain', 'ünïcödé', '\u{1f4a9}', '\u0001\ufeff\uffff'])
    t.true(isStorableText(text));
  for (const text of ['\0', 'a\0b', '\ud800', '\udc00\ud800', 'a\udfff']) t.false(isStorableText(text));
});
