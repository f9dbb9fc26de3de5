/** The measurements of a run become a report that says first whether it passed. */
import test from 'ava';
import { answerName, answerNames } from '../../load-tests/report/answers.ts';
import { parseExposition } from '../../load-tests/report/exposition.ts';
import { grownIn, type Scrape, seenIn } from '../../load-tests/report/observe.ts';
import { page, reportIn } from '../../load-tests/report/page.ts';
import { type Report, reportOf, type Summary } from '../../load-tests/report/report.ts';
import { sliceAt, sliceCount } from '../../load-tests/report/slices.ts';
import { numberText, verdictText } from '../../load-tests/report/text.ts';

const run = {
  scenario: 'steady-mix',
  profile: 'smoke',
  perSecond: 20,
  machines: 1,
  durationSeconds: 40,
  gateways: 1,
  nodes: 1,
  beganAt: '2026-11-22T10:00:00.000Z',
  before: { server_memory_mb: 90 },
  after: { server_memory_mb: 120 },
};

function summaryWith(p99: number, isRight = true): Summary {
  const times = { count: 400, min: 1, avg: 5, med: 4, 'p(90)': 9, 'p(95)': 12, 'p(99)': p99, max: p99 + 1 };
  return {
    state: { testRunDurationMs: 41_000 },
    metrics: {
      'http_req_duration{operation:edit}': {
        values: times,
        thresholds: { 'p(99)<500': { ok: p99 < 500 } },
      },
      'http_req_failed{operation:edit}': {
        values: { rate: 0, passes: 0, fails: 400 },
        thresholds: { 'rate<=0.01': { ok: true } },
      },
      'checks{operation:edit}': {
        values: { rate: isRight ? 1 : 0.98, passes: isRight ? 400 : 392, fails: isRight ? 0 : 8 },
        thresholds: { 'rate>=0.99': { ok: isRight } },
      },
      'http_req_duration{operation:login}': {
        values: { count: 0 },
        thresholds: { 'p(99)<500': { ok: true } },
      },
      'http_req_duration{slice:s03}': {
        values: { ...times, count: 60 },
        thresholds: { 'max>=0': { ok: true } },
      },
      'http_req_failed{slice:s03}': { values: { rate: 0.05, passes: 3, fails: 57 } },
      'server_memory_mb{slice:s03}': { values: { count: 2, avg: 104 } },
      metrics_unread: { values: { rate: 0, passes: 0, fails: 30 } },
      server_memory_mb: { values: { count: 30, avg: 100, max: 131 } },
      server_fenced_writes: { values: { count: 2, rate: 0.1 } },
      save_to_push: { values: times },
    },
  };
}

const reported = (p99: number, isRight?: boolean): Report => reportOf(summaryWith(p99, isRight), run);

test('a run has passed if every objective holds', (t) => {
  t.is(reported(499).verdict, 'passed');
  const slow = reported(700);
  t.is(slow.verdict, 'failed');
  t.deepEqual(slow.objectives[0], {
    metric: 'http_req_duration{operation:edit}',
    threshold: 'p(99)<500',
    holds: false,
    value: 700,
  });
  t.is(reported(20, false).verdict, 'failed');
});

test('a run that has measured nothing has not passed', (t) => {
  const nothing = reportOf({ state: { testRunDurationMs: 1 }, metrics: {} }, run);
  t.is(nothing.verdict, 'failed');
});

test('a report tells of operations, of the server and of when it was', (t) => {
  const { operations, server, counted, slices, timings, objectives } = reported(20, false);
  t.deepEqual(
    operations.map(({ operation, count, perSecond, failed, p99 }) => ({
      operation,
      count,
      perSecond,
      failed,
      p99,
    })),
    [{ operation: 'edit', count: 400, perSecond: 10, failed: 8, p99: 20 }],
  );
  t.deepEqual(server, [{ name: 'server_memory_mb', before: 90, mean: 100, max: 131, after: 120 }]);
  t.deepEqual(counted, { server_fenced_writes: 2 });
  t.is(slices.length, sliceCount);
  const [, , , slice] = slices;
  t.is(slice?.fromSeconds, 6);
  t.is(slice?.perSecond, 30);
  t.is(slice?.failed, 3);
  t.deepEqual(slice?.server, { server_memory_mb: 104 });
  t.deepEqual(
    timings.map(({ name }) => name),
    ['save_to_push'],
  );
  t.false(objectives.some(({ metric }) => metric.includes('slice')));
});

test('the page says the verdict first, needs nothing beside it, and carries the report for machines', (t) => {
  const report = reported(700);
  const html = page(report);
  t.regex(html, /<main>\s*<header class="failed"><h1>steady mix <strong>failed<\/strong><\/h1><p>1 of/);
  t.regex(html, /edit: time of an answer in ms, p99 &lt; 500: <b>700<\/b>/);
  t.regex(html, /There is no baseline/);
  t.regex(html, /memory of all nodes/);
  t.notRegex(html, /(?:src|href)=|@import|url\(/);
  t.deepEqual(reportIn(html), JSON.parse(JSON.stringify(report)));
  t.is(reportIn('Error: no such pod'), undefined);
  t.regex(page(reported(20)), /<header class="passed">/);
});

test('text of others in the page stays text', (t) => {
  const html = page({ ...reported(20), run: { ...reported(20).run, profile: '</script><b>' } });
  t.notRegex(html, /<\/script><b>/);
  t.regex(html, /&lt;\/script&gt;&lt;b&gt;/);
});

test('a baseline of the same run stands beside it, and one of another does not', (t) => {
  const html = page(reported(400), reported(200));
  t.regex(html, /<small class="bad">\+100 %<\/small>/);
  t.regex(html, /<small class="same">\+0 %<\/small>/);
  t.regex(page(reported(200), reported(400)), /<small class="good">−50 %<\/small>/);
  const other = { ...reported(200), run: { ...reported(200).run, perSecond: 30 } };
  t.regex(page(reported(400), other), /There is no baseline/);
  t.regex(html, /of the baseline<\/th>/);
  t.notRegex(page(reported(400), other), /of the baseline/);
  const ofTwo = { ...reported(200), run: { ...reported(200).run, machines: 2 } };
  t.regex(page(reported(400), ofTwo), /There is no baseline/);
  t.regex(page(ofTwo), /20 per second as one of 2 machines for 40 s/);
});

test('a terminal shows the verdict and what is broken', (t) => {
  const text = verdictText(reported(700));
  t.regex(text, /^steady-mix \(smoke, 40 s\): FAILED\n {2}✘ edit: time of an answer in ms, p99 < 500: 700\n/);
  t.regex(verdictText(reported(20)), /: PASSED\n {2}edit: 400 requests, 0 failed/);
});

/** k6's count of scrapes, some of which found something else. */
function reportedUnread(answers: Readonly<Record<string, number>>, read: number): Report {
  const unread = Object.values(answers).reduce((sum, times) => sum + times, 0);
  const thresholds = answerNames.map((name) => [
    `metrics_unread{answer:${name}}`,
    { values: { passes: answers[name] ?? 0, fails: 0 }, thresholds: { 'rate>=0': { ok: true } } },
  ]);
  const { metrics, state } = summaryWith(20);
  const { server_memory_mb: _, ...others } = metrics;
  const scrapes = { values: { rate: 1, passes: unread, fails: read } };
  return reportOf(
    { state, metrics: { ...others, metrics_unread: scrapes, ...Object.fromEntries(thresholds) } },
    run,
  );
}

test('metrics that could not be read are said in the terminal and at the top of the page: how often, and what came instead', (t) => {
  const report = reportedUnread({ 421: 36, nothing: 2 }, 0);
  t.is(report.verdict, 'passed');
  t.deepEqual(report.metrics, { scrapes: 38, unread: 38, answers: { nothing: 2, 421: 36 } });
  t.false(report.objectives.some(({ metric }) => metric.includes('unread')));
  const said =
    /could not be read in 38 of 38 scrapes of a node, which answered 421 \(36\), nothing \(2\)\. 421: .*ADMIN_NAMES/;
  t.regex(verdictText(report), said);
  const [top = '', rest = ''] = page(report).split('</header>');
  t.regex(top, said);
  t.regex(rest, /<p>Its metrics could not be read\.<\/p>/);
  t.notRegex(page(reported(20)), /could not be read/);
});

test('a report without metrics says whether nobody asked for them or another machine did', (t) => {
  t.regex(page(reportedUnread({}, 0)), /Another machine of this run read/);
  const unasked = { ...run, nodes: 0 };
  t.regex(page(reportOf({ ...summaryWith(20), metrics: {} }, unasked)), /did not request/);
});

test('why requests failed is said in the terminal and at the top of the page', (t) => {
  const { metrics, state } = summaryWith(20, false);
  const failures = {
    'failed_answers{answer:503}': { values: { count: 7 } },
    'failed_answers{answer:something wrong}': { values: { count: 1 } },
  };
  const report = reportOf({ state, metrics: { ...metrics, ...failures } }, run);
  const said = /Failed requests were answered: 503 \(7\), something wrong \(1\)\./;
  t.regex(verdictText(report), said);
  t.regex(page(report).split('</header>')[0] ?? '', said);
  t.notRegex(page(reported(20)), /Failed requests/);
});

test('operations stand in the same order in every report', (t) => {
  const operationsOf = (names: readonly string[]) => {
    const { metrics } = summaryWith(20);
    const values = metrics['http_req_duration{operation:edit}']?.values ?? {};
    const all = Object.fromEntries(names.map((name) => [`http_req_duration{operation:${name}}`, { values }]));
    return reportOf({ state: { testRunDurationMs: 1 }, metrics: all }, run).operations.map(
      ({ operation }) => operation,
    );
  };
  t.deepEqual(
    operationsOf(['new-note', 'edit', 'idle-sync']),
    operationsOf(['idle-sync', 'new-note', 'edit']),
  );
});

test('an answer in place of metrics has a name that k6 was told of', (t) => {
  t.deepEqual([0, 421, 503, 418].map(answerName), ['nothing', '421', '503', 'another status']);
});

test('numbers have the digits that count', (t) => {
  t.deepEqual([0, 3, 0.1234, 12.34, 123.4, 1_234_567, Number.NaN].map(numberText), [
    '0',
    '3',
    '0.12',
    '12.3',
    '123',
    '1,234,567',
    '–',
  ]);
});

test('the metrics of the server are read as it writes them', (t) => {
  const read = parseExposition(
    '# HELP actors Actors in memory\n# TYPE actors gauge\nactors{kind="user"} 3\nactors{kind="vault"} 2\nup 1e+3\nnone Nan\n',
  );
  t.deepEqual(
    [...read],
    [
      ['actors', 5],
      ['up', 1_000],
    ],
  );
});

const scrapeAt = (
  atMs: number,
  nodes: Readonly<Record<string, Readonly<Record<string, number>>>>,
): Scrape => ({
  atMs,
  unread: [],
  nodes: new Map(Object.entries(nodes).map(([url, values]) => [url, new Map(Object.entries(values))])),
});

test('counters are rates between two looks, and one that began anew has not gone backwards', (t) => {
  const before = scrapeAt(0, {
    one: { process_cpu_seconds_total: 10, scriptorium_fenced_writes_total: 5 },
    two: { process_cpu_seconds_total: 4, scriptorium_fenced_writes_total: 1 },
  });
  const after = scrapeAt(2_000, {
    one: { process_cpu_seconds_total: 1, scriptorium_fenced_writes_total: 0 },
    two: { process_cpu_seconds_total: 5, scriptorium_fenced_writes_total: 4 },
    three: { process_cpu_seconds_total: 100 },
  });
  const value = (list: readonly { name: string; value: number }[], name: string) =>
    list.find((one) => one.name === name)?.value;
  t.is(value(seenIn(after, before), 'server_cpu_cores'), 1);
  t.is(value(seenIn(after, undefined), 'server_cpu_cores'), undefined);
  t.is(value(grownIn(after, before), 'server_fenced_writes'), 3);
});

test('a histogram is its mean since the last look', (t) => {
  const at = (sum: number, count: number) =>
    scrapeAt(1, {
      one: { scriptorium_commit_batch_seconds_sum: sum, scriptorium_commit_batch_seconds_count: count },
    });
  const seen = seenIn(at(3, 200), at(1, 100));
  t.is(seen.find(({ name }) => name === 'server_commit_batch_ms')?.value, 20);
  t.deepEqual(seenIn(at(1, 100), at(1, 100)), []);
});

test('a request after the end of a run belongs to its last slice', (t) => {
  t.deepEqual(
    [0, 1_999, 2_000, 39_999, 40_000, 70_000].map((ms) => sliceAt(ms, 40_000)),
    ['s00', 's00', 's01', 's19', 's19', 's19'],
  );
});
