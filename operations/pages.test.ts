import test from 'ava';
import { pageOf } from './pages.ts';

const rows = Array.from({ length: 1_500 }, (_, index) => index);
const page = (pageSize: number, pageToken = '') =>
  pageOf(
    rows,
    { pageSize, pageToken },
    (row) => row > Number(pageToken),
    (row) => String(row),
  );

test('a page has as many rows as were asked for, 100 by default, and never more than 1,000', (t) => {
  t.is(page(7).rows.length, 7);
  t.is(page(0).rows.length, 100);
  t.is(page(1_000_000).rows.length, 1_000);
});

test('a page begins after the row its token names, also when that row is gone', (t) => {
  t.deepEqual(page(2, '41').rows, [42, 43]);
  const without = rows.filter((row) => row !== 41);
  const next = pageOf(
    without,
    { pageSize: 2, pageToken: '41' },
    (row) => row > 41,
    (row) => String(row),
  );
  t.deepEqual(next.rows, [42, 43]);
});

test('the last page leads nowhere, also when it is full', (t) => {
  t.is(page(1_000).nextPageToken, '999');
  t.is(page(500, '999').nextPageToken, '');
  t.is(page(10, '1499').nextPageToken, '');
});
