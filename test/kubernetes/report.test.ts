import test from 'ava';
import type { CallRecord } from '../cluster/tally.ts';
import { isAsItShouldBe, type Observed, outcomeOf, page } from './report.ts';

const answered: CallRecord = { what: 'GET /v1/users', atMs: 1, durationMs: 20, failures: [] };
const failedAtFirst: CallRecord = {
  what: 'POST /v1/items',
  atMs: 2,
  durationMs: 90,
  failures: ['no-answer'],
};

const observed = (changes: Partial<Observed>): Observed => ({
  step: { name: 'an upgrade', isPlanned: true, run: () => Promise.resolve() },
  failure: undefined,
  durationMs: 30_000,
  calls: [answered],
  stuck: [],
  before: { gateway: 2, host: 3 },
  least: { gateway: 2, host: 2 },
  ...changes,
});

test('a planned step that failed no request and took away one host at a time is as it should be', (t) => {
  t.deepEqual(outcomeOf(observed({})).complaints, []);
});

test('a request that has no answer at the end of a step counts, although it has not failed yet', (t) => {
  const stuck = [{ what: 'POST /v1/items', atMs: 3 }];
  t.deepEqual(outcomeOf(observed({ stuck })).complaints, ['1 requests without an answer: POST /v1/items']);
});

test('a planned step may fail no request', (t) => {
  const { complaints, failedAttempts } = outcomeOf(observed({ calls: [answered, failedAtFirst] }));
  t.deepEqual(complaints, ['1 requests failed at first: POST /v1/items (no-answer)']);
  t.is(failedAttempts['no-answer'], 1);
});

test('a planned step may take away no gateway and two hosts only where it says so', (t) => {
  const least = { gateway: 1, host: 1 };
  t.is(outcomeOf(observed({ least })).complaints.length, 2);
  const step = { ...observed({}).step, away: { gateway: 1, host: 2 } };
  t.deepEqual(outcomeOf(observed({ least, step })).complaints, []);
});

test('a step during which nobody asked anything shows nothing', (t) => {
  t.is(outcomeOf(observed({ calls: [] })).complaints.length, 1);
});

test('a crash may fail requests, and what the operator is told instead of success counts all the same', (t) => {
  const step = { ...observed({}).step, isPlanned: false };
  const calls = [failedAtFirst];
  t.deepEqual(outcomeOf(observed({ step, calls })).complaints, []);
  t.deepEqual(outcomeOf(observed({ step, calls, failure: 'timed out' })).complaints, ['timed out']);
});

test('the page names whatever was not as it should be, and the run fails by it', (t) => {
  const bad = outcomeOf(observed({ failure: 'timed out' }));
  const violations = [{ kind: 'lost-write', user: 'somebody', detail: 'an item is gone' }] as const;
  const outcome = {
    smokeTest: 'registers',
    steps: [bad],
    calls: 1,
    acknowledgedWrites: 1,
    violations: violations as never,
    unfinished: [],
  };
  t.false(isAsItShouldBe(outcome));
  t.true(isAsItShouldBe({ ...outcome, steps: [outcomeOf(observed({}))], violations: [] }));
  const text = page(outcome, { date: '2026-01-01', commit: 'abc', seed: 1, imageMegabytes: 1 });
  t.regex(text, /an upgrade: timed out/);
  t.regex(text, /lost-write \(somebody\): an item is gone/);
});
