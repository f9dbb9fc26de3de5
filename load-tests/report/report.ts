/** The results of a run, for machines, made from the summary that k6 gives at the end. */
import { answerNames } from './answers.ts';
import { counted, observed } from './observed.ts';
import { sliceNames } from './slices.ts';

type Values = Readonly<Record<string, number>>;

/** As k6 hands it to `handleSummary`. */
export interface Summary {
  readonly metrics: Readonly<Record<string, SummaryMetric>>;
  readonly state: { readonly testRunDurationMs: number };
}

interface SummaryMetric {
  readonly values: Values;
  readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
}

export interface Run {
  readonly scenario: string;
  readonly profile: string;
  /** This machine's part, when several share a run. */
  readonly perSecond: number;
  readonly machines: number;
  readonly durationSeconds: number;
  readonly gateways: number;
  /** The nodes whose metrics it scrapes. */
  readonly nodes: number;
  readonly beganAt: string;
  /** The server's state before and after, by the names of `observed`. */
  readonly before: Values;
  readonly after: Values;
}

/** In milliseconds. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

interface OperationResult extends Percentiles {
  readonly operation: string;
  readonly perSecond: number;
  /** The requests that were refused, not answered, or answered wrongly. */
  readonly failed: number;
}

interface Timing extends Percentiles {
  readonly name: string;
}

export interface Objective {
  readonly metric: string;
  readonly threshold: string;
  readonly holds: boolean;
  /** Undefined if nothing was measured. */
  readonly value?: number;
}

export interface Slice {
  readonly fromSeconds: number;
  readonly perSecond: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  readonly timings: Values;
  /** Means of the server's observed metrics. */
  readonly server: Values;
}

interface ServerResult {
  readonly name: string;
  readonly before?: number;
  readonly mean: number;
  readonly max: number;
  readonly after?: number;
}

/** The scrapes of metrics, all nodes together. */
interface Scrapes {
  readonly scrapes: number;
  readonly unread: number;
  /** How often each wrong answer came. */
  readonly answers: Values;
}

export interface Report {
  readonly format: 1;
  readonly verdict: 'passed' | 'failed';
  readonly run: Omit<Run, 'before' | 'after'> & { readonly tookSeconds: number };
  readonly objectives: readonly Objective[];
  readonly operations: readonly OperationResult[];
  /** The answers of failed requests, and how often they came. */
  readonly failures: Values;
  readonly timings: readonly Timing[];
  readonly slices: readonly Slice[];
  readonly server: readonly ServerResult[];
  readonly metrics: Scrapes;
  /** The growth of the server's counters. */
  readonly counted: Values;
}

const timingNames = [
  ...['save_to_push', 'socket_open', 'lane_open', 'lane_command'],
  ...['first_sync', 'file_upload', 'file_download'],
] as const;

export function reportOf(summary: Summary, { before, after, ...run }: Run): Report {
  const { metrics } = summary;
  const objectives = objectivesIn(metrics);
  // A run that measured nothing has proved nothing.
  const isPassed =
    objectives.every(({ holds }) => holds) && operationsIn(metrics, run.durationSeconds).length > 0;
  return {
    format: 1,
    verdict: isPassed ? 'passed' : 'failed',
    run: { ...run, tookSeconds: Math.round(summary.state.testRunDurationMs / 1_000) },
    objectives,
    operations: operationsIn(metrics, run.durationSeconds),
    failures: answersIn(metrics, 'failed_answers', 'count'),
    timings: timingsIn(metrics),
    slices: slicesIn(metrics, run.durationSeconds),
    server: serverIn(metrics, before, after),
    metrics: scrapesIn(metrics),
    counted: countedIn(metrics),
  };
}

type Metrics = Summary['metrics'];

/** Thresholds that make k6 keep values, and that always hold. */
const keptOnly = /\{(?:slice|answer):/;

function objectivesIn(metrics: Metrics): readonly Objective[] {
  return Object.entries(metrics)
    .filter(([metric]) => !keptOnly.test(metric))
    .flatMap(([metric, { values, thresholds = {} }]) =>
      Object.entries(thresholds).map(([threshold, { ok }]) => {
        const value = values[/^[\w()]+/.exec(threshold)?.[0] ?? ''];
        return { metric, threshold, holds: ok, ...(value !== undefined && { value }) };
      }),
    )
    .toSorted((a, b) => Number(a.holds) - Number(b.holds) || a.metric.localeCompare(b.metric));
}

const percentilesOf = (values: Values): Percentiles => ({
  count: values['count'] ?? 0,
  p50: values['med'] ?? 0,
  p90: values['p(90)'] ?? 0,
  p95: values['p(95)'] ?? 0,
  p99: values['p(99)'] ?? 0,
  max: values['max'] ?? 0,
});

function operationsIn(metrics: Metrics, durationSeconds: number): readonly OperationResult[] {
  const results = Object.entries(metrics).flatMap(([metric, { values }]) => {
    const operation = /^http_req_duration\{operation:(.+)\}$/.exec(metric)?.[1];
    if (operation === undefined || !values['count']) return [];
    // An answer with a wrong status fails its check, too.
    const failed = metrics[`checks{operation:${operation}}`]?.values['fails'] ?? 0;
    return [{ operation, ...percentilesOf(values), perSecond: values['count'] / durationSeconds, failed }];
  });
  // k6 lists them in a different order each time.
  return results.toSorted((a, b) => a.operation.localeCompare(b.operation));
}

const timingsIn = (metrics: Metrics): readonly Timing[] =>
  timingNames.flatMap((name) => {
    const values = metrics[name]?.values;
    return values === undefined || !values['count'] ? [] : [{ name, ...percentilesOf(values) }];
  });

function slicesIn(metrics: Metrics, durationSeconds: number): readonly Slice[] {
  const seconds = durationSeconds / sliceNames.length;
  return sliceNames.map((slice, index) => {
    const of = (metric: string): Values => metrics[`${metric}{slice:${slice}}`]?.values ?? {};
    const requests = of('http_req_duration');
    return {
      fromSeconds: index * seconds,
      perSecond: (requests['count'] ?? 0) / seconds,
      failed: of('http_req_failed')['passes'] ?? 0,
      p50: requests['med'] ?? 0,
      p99: requests['p(99)'] ?? 0,
      timings: present(timingNames, (name) => (of(name)['count'] ? of(name)['p(99)'] : undefined)),
      server: present(
        observed.map(({ name }) => name),
        (name) => (of(name)['count'] ? of(name)['avg'] : undefined),
      ),
    };
  });
}

function serverIn(metrics: Metrics, before: Values, after: Values): readonly ServerResult[] {
  return observed.flatMap(({ name }) => {
    const values = metrics[name]?.values;
    if (values === undefined || !values['count']) return [];
    const { [name]: first } = before;
    const { [name]: last } = after;
    return [
      {
        name,
        ...(first !== undefined && { before: first }),
        mean: values['avg'] ?? 0,
        max: values['max'] ?? 0,
        ...(last !== undefined && { after: last }),
      },
    ];
  });
}

function scrapesIn(metrics: Metrics): Scrapes {
  const { passes: unread = 0, fails: read = 0 } = metrics['metrics_unread']?.values ?? {};
  return { scrapes: unread + read, unread, answers: answersIn(metrics, 'metrics_unread', 'passes') };
}

/** Names only the answers that came. */
const answersIn = (metrics: Metrics, metric: string, of: 'count' | 'passes'): Values =>
  present(answerNames, (name) => metrics[`${metric}{answer:${name}}`]?.values[of] || undefined);

const countedIn = (metrics: Metrics): Values =>
  present(
    counted.map(({ name }) => name),
    (name) => metrics[name]?.values['count'],
  );

function present(names: readonly string[], find: (name: string) => number | undefined): Values {
  const entries = names.flatMap((name) => {
    const value = find(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
