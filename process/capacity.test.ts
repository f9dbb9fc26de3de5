import test from 'ava';
import { connectionsWithin, hashesAtOnce } from './capacity.ts';

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax processes             100                  100                  processes \nMax open files            ${soft}                 1048576              files     \n`;

test('connections leave descriptors for everything else', (t) => {
  t.is(connectionsWithin(60_000, limits('1024')), 768);
  t.is(connectionsWithin(60_000, limits('300')), 150);
  t.is(connectionsWithin(60_000, limits('1048576')), 60_000);
  t.is(connectionsWithin(60_000, limits('unlimited')), 60_000);
  t.is(connectionsWithin(60_000, ''), 60_000);
});

test('this very process has a limit, or the system reports none', (t) => {
  const connections = connectionsWithin(Number.MAX_SAFE_INTEGER);
  t.true(connections > 0);
  if (process.platform === 'linux') t.true(connections < 2 ** 31);
});

test('a core is left for the event loop, and no more hashes run than the pool has threads', (t) => {
  t.deepEqual([1, 2, 4, 5, 64].map(hashesAtOnce), [1, 1, 3, 4, 4]);
});
