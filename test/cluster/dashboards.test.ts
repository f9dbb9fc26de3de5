/** The Grafana dashboards: their files are current, and a real Prometheus answers each of their queries. */
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { dashboards } from '../../tools/dashboards/definitions.ts';
import { chosen, dashboardFile, dashboardText, type Panel } from '../../tools/dashboards/grafana.ts';
import { Device } from '../kit/device.ts';
import { ciphertext, RemoteFile } from '../kit/files.ts';
import { enterLane, run } from '../kit/lane.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startPrometheus } from '../kit/prometheus.ts';
import { until } from '../kit/until.ts';
import { buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

const root = new URL('../../', import.meta.url);
const metricsPage = readFileSync(new URL('docs/metrics.md', root), 'utf8');
const rowsOf = dashboards.flatMap(({ name, rows }) => rows.map((row) => ({ name, ...row })));
const panels: readonly (Panel & { readonly path: string })[] = rowsOf.flatMap(({ name, title, panels }) =>
  panels.map((panel) => ({ ...panel, path: `${name} / ${title} / ${panel.title}` })),
);

const allQueries = panels.flatMap(({ path, queries }) => queries.map((query) => ({ path, ...query })));

/** What may have no series after the load of this test: it is about failures, or about what this cluster does not have. */
const mayBeSilent: ReadonlySet<string> = new Set([
  // Failures and refusals.
  'scriptorium_http_request_duration_seconds_count{status="5xx"}',
  'scriptorium_overloaded_total',
  'scriptorium_socket_repairs_total',
  'scriptorium_sync_lane_closed_total',
  'scriptorium_sync_lane_refused_total',
  'scriptorium_transport_disconnects_total',
  'scriptorium_transport_rejected_frames_total',
  // Sockets for events.
  'scriptorium_socket_upgrades_total',
  'scriptorium_socket_vault_registrations_total',
  'scriptorium_sockets_closed_total',
  // Mail, the assistant, paired subscriptions, and backups of a single process.
  'scriptorium_assistant_answers_total',
  'scriptorium_backup_last_success_timestamp_seconds',
  'scriptorium_backups_total',
  'scriptorium_mail_attempts_total',
  'scriptorium_pairing_refreshes_total',
]);

interface Selector {
  /** The metric and the matchers beside those of the chosen processes: `scriptorium_turns_total{outcome="error"}`. */
  readonly key: string;
  readonly metric: string;
  readonly labels: readonly string[];
}

const selectorPattern = /([a-zA-Z_:][\w:]*)\{([^}]*)\}/g;
const groupingPattern = /\bby \(([^)]*)\)/g;

const selectorsOf = (expr: string): readonly Selector[] =>
  [...expr.matchAll(selectorPattern)].map(([, metric = '', matchers = '']) => {
    const others = matchers.replace(chosen, '').replace(/^,/, '');
    return {
      key: others === '' ? metric : `${metric}{${others}}`,
      metric,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=|!)/g)].map(([, label = '']) => label),
    };
  });

const groupingOf = (expr: string): readonly string[] =>
  [...expr.matchAll(groupingPattern)].flatMap(([, labels = '']) => labels.split(', '));

/** The words of a query that are no metric and no label. */
const wordsOf = (expr: string): readonly string[] =>
  expr
    .replaceAll(selectorPattern, '')
    .replaceAll(groupingPattern, '')
    .replaceAll('[$__rate_interval]', '')
    .match(/[a-z_]\w*/gi) ?? [];

const functions = new Set('count histogram_quantile max min or rate sum time topk vector'.split(' '));

/** The labels of each series that a metric of docs/metrics.md or of Node has. */
async function declaredSeries(): Promise<ReadonlyMap<string, readonly string[]>> {
  const series = new Map<string, readonly string[]>();
  const add = (name: string, type: string, labels: readonly string[]): void => {
    const all = ['job', 'instance', ...labels];
    if (type !== 'histogram') series.set(name, all);
    else
      for (const end of ['bucket', 'count', 'sum'])
        series.set(`${name}_${end}`, end === 'bucket' ? [...all, 'le'] : all);
  };
  for (const [, name = '', type = '', labels = ''] of metricsPage.matchAll(
    /^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm,
  ))
    add(
      name,
      type,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    );
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name, type, values } of await registry.getMetricsAsJSON())
    add(
      name,
      String(type),
      values.flatMap((value) => Object.keys(value.labels)),
    );
  return series;
}

const sync = { api: '20200115', items: [] };

test('the files of the dashboards are what their definitions say', (t) => {
  for (const dashboard of dashboards)
    t.is(readFileSync(new URL(dashboardFile(dashboard), root), 'utf8'), dashboardText(dashboard));
  t.deepEqual(
    readdirSync(new URL('helm/files/dashboards', root)).sort(),
    dashboards.map(({ name }) => `${name}.json`).sort(),
  );
});

test('every metric of docs/metrics.md is on a dashboard, but those of the internal API', (t) => {
  const documented = [...metricsPage.matchAll(/^\| `([a-z_]+)`/gm)];
  const text = JSON.stringify(dashboards);
  const missing = documented.map(([, name = '']) => name).filter((name) => !text.includes(name));
  t.deepEqual(missing, ['scriptorium_grpc_request_duration_seconds', 'scriptorium_grpc_requests_total']);
});

test('every metric and label of a query is declared by docs/metrics.md or by Node', async (t) => {
  const series = await declaredSeries();
  for (const { path, expr, legend } of allQueries) {
    const selectors = selectorsOf(expr);
    t.not(selectors.length, 0, path);
    t.deepEqual(
      wordsOf(expr).filter((word) => !functions.has(word)),
      [],
      `${path}: no function, and a metric only with the chosen processes`,
    );
    for (const { metric, labels } of selectors) {
      const declared = series.get(metric) ?? [];
      const named = [...labels, ...groupingOf(expr)];
      t.deepEqual(
        named.filter((label) => !declared.includes(label)),
        [],
        `${path}: labels of ${metric}`,
      );
    }
    const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    const given = /\b(?:sum|max|min|count)\b/.test(expr) ? groupingOf(expr) : ['job', 'instance'];
    t.deepEqual(
      shown.filter((label) => !given.includes(label)),
      [],
      `${path}: labels of the legend`,
    );
  }
});

test('what may have no series is in a query', (t) => {
  const keys = new Set(allQueries.flatMap(({ expr }) => selectorsOf(expr).map(({ key }) => key)));
  t.deepEqual(
    [...mayBeSilent].filter((key) => !keys.has(key)),
    [],
  );
});

test('a Prometheus that scrapes a cluster under load answers every query of every panel', async (t) => {
  t.timeout(240_000);
  const builds = await buildTwice('dashboards');
  const cluster = await Cluster.start({ builds, leaseMs: 3_000, nodes: 2, nats: [await startNatsServer()] });
  t.teardown(() => cluster.stop());
  const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
  for (const node of [first, second]) await until(() => node.isReady());
  const prometheus = await startPrometheus([first.metricsUrl, second.metricsUrl]);
  t.teardown(() => prometheus.stop());

  const phone = await Device.register({ url: first.url });
  const socket = await enterLane(t, phone, second);
  await run(socket, 'command-1', sync);
  await new RemoteFile(phone).upload(ciphertext(2_000));
  // A rate needs two scrapes of each process.
  await until(async () => {
    t.is((await phone.call('POST', '/v1/items', { body: sync })).status, 200);
    const [scraped] = await prometheus.ask('count(count_over_time(scriptorium_build_info[5m]) > 2)');
    return scraped?.value[1] === '2';
  });

  const withoutSeries: string[] = [];
  for (const { path, expr } of allQueries) {
    const query = expr.replaceAll(/\$(?:job|instance)\b/g, '.*').replaceAll('$__rate_interval', '30s');
    const samples = await prometheus.ask(query);
    t.true(
      samples.every(({ value }) => !value[1].includes('NaN') || query.includes('histogram')),
      path,
    );
    // With its zero, a query has an answer even where a name in it is wrong.
    const series = await prometheus.ask(query.replaceAll(' or vector(0)', ''));
    const isSilent = selectorsOf(expr).some(({ key }) => mayBeSilent.has(key));
    if (!isSilent && series.length === 0) withoutSeries.push(`${path}: ${expr}`);
  }
  t.deepEqual(withoutSeries, []);
  const [processes] = await prometheus.ask('count(scriptorium_build_info)');
  t.is(processes?.value[1], '2');
  t.true(
    Number((await prometheus.ask('sum(scriptorium_http_request_duration_seconds_count)'))[0]?.value[1]) > 2,
  );
});
