import test from 'ava';
import type { CallRecord } from '../cluster/tally.ts';
import { complaintsAbout, type Observed, outcomeOf, page, unansweredText } from './report.ts';

const answered: CallRecord = { who: 'device', what: 'GET /v1/users', atMs: 1, durationMs: 20, failures: [] };
const failedAtFirst: CallRecord = {
  who: 'person',
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
  const stuck = ['device, POST /v1/items'];
  t.deepEqual(outcomeOf(observed({ stuck })).complaints, [
    '1 requests without an answer: device, POST /v1/items',
  ]);
});

test('a step without an answer is reported with its waiting client, its start and what runs meanwhile', (t) => {
  const spans = [
    { name: 'an upgrade', beganMs: 10, endedMs: 20 },
    { name: 'a rollback', beganMs: 30, endedMs: 40 },
  ];
  const textAt = (atMs: number) => unansweredText({ who: 'person', what: 'POST /v1/items', atMs }, spans);
  t.regex(textAt(30), /^person, POST \/v1\/items, since \d{4}-\d\d-\d\dT[\d:.]+Z \(a rollback\)$/);
  t.regex(textAt(25), /\(between two steps\)$/);
});

test('a planned step may keep nobody waiting for long, but a client that asks for too much at once makes itself wait', (t) => {
  const slow: CallRecord = { ...answered, what: 'POST /v1/items', durationMs: 10_001 };
  const { complaints, longestMs } = outcomeOf(observed({ calls: [answered, slow] }));
  t.deepEqual(complaints, ['1 requests took longer than 5000 ms: device, POST /v1/items (10001 ms)']);
  t.is(longestMs, 10_001);
  const step = { ...observed({}).step, isPlanned: false };
  t.deepEqual(outcomeOf(observed({ calls: [slow], step })).complaints, []);
  const repeated: CallRecord = { ...slow, durationMs: 12_730, failures: ['too-many', 'too-many'] };
  const ofUploads = outcomeOf(observed({ calls: [answered, repeated] }));
  t.deepEqual(ofUploads.complaints, []);
  t.is(ofUploads.longestMs, 20);
  t.is(ofUploads.longestRepeatedMs, 12_730);
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
  const circumstances = { date: '2026-01-01', commit: 'abc', seed: 1, imageMegabytes: 260 };
  t.is(complaintsAbout(outcome, circumstances).length, 2);
  const good = { ...outcome, steps: [outcomeOf(observed({}))], violations: [] };
  t.deepEqual(complaintsAbout(good, circumstances), []);
  const text = page(outcome, circumstances);
  t.regex(text, /an upgrade: timed out/);
  t.regex(text, /lost-write \(somebody\): an item is gone/);
});

test('an image that is too large fails the run, and the page says so', (t) => {
  const outcome = {
    smokeTest: '',
    steps: [outcomeOf(observed({}))],
    calls: 1,
    acknowledgedWrites: 1,
    violations: [],
    unfinished: [],
  };
  const circumstances = { date: '2026-01-01', commit: 'abc', seed: 1, imageMegabytes: 261 };
  const complaint = 'the image of the server is 261 MB, more than 260';
  t.deepEqual(complaintsAbout(outcome, circumstances), [complaint]);
  t.true(page(outcome, circumstances).includes(`- ${complaint}`));
});
