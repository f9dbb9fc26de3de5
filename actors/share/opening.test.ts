import test from 'ava';
import { endedAtMs, keptUntilMs, openingStatus } from './opening.ts';

const opened = { atMs: 1_000, by: 'first' };
const later = (by: string, afterMs: number) => ({ atMs: opened.atMs + afterMs, by });
const minuteMs = 60_000;

test('without terms a share is open, and nothing is noted', (t) => {
  t.is(openingStatus({ oneTimeView: false, viewExpiresMinutes: null }, null, opened), 'open');
});

test('a one-time share is given to the call that opened it, and to nobody else', (t) => {
  const terms = { oneTimeView: true, viewExpiresMinutes: null };
  t.is(openingStatus(terms, null, opened), 'first');
  t.is(openingStatus(terms, opened, later('first', 60_000)), 'open');
  t.is(openingStatus(terms, opened, later('second', 0)), 'over');
  t.is(endedAtMs(terms, opened), opened.atMs);
  t.is(openingStatus(terms, opened, { atMs: keptUntilMs(terms, opened), by: 'first' }), 'over');
});

for (const oneTimeView of [true, false]) {
  test(`minutes hold for all, to the millisecond${oneTimeView ? ', and win over a one-time view' : ''}`, (t) => {
    const terms = { oneTimeView, viewExpiresMinutes: 5 };
    t.is(openingStatus(terms, null, opened), 'first');
    t.is(openingStatus(terms, opened, later('second', 5 * minuteMs - 1)), 'open');
    t.is(openingStatus(terms, opened, later('first', 5 * minuteMs)), 'over');
    t.is(endedAtMs(terms, opened), opened.atMs + 5 * minuteMs);
  });
}
