/** The Grafana dashboards: their files are current, and a real Prometheus answers each of their queries. */
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { dashboards } from '../../tools/dashboards/definitions.ts';
import { dashboardFile, dashboardText, type Panel } from '../../tools/dashboards/grafana.ts';
import { Device } from '../kit/device.ts';
import { enterLane, run } from '../kit/lane.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startPrometheus } from '../kit/prometheus.ts';
import { until } from '../kit/until.ts';
import { buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';

const root = new URL('../../', import.meta.url);
const rowsOf = dashboards.flatMap(({ name, rows }) => rows.map((row) => ({ name, ...row })));
const panels: readonly (Panel & { readonly path: string })[] = rowsOf.flatMap(({ name, title, panels }) =>
  panels.map((panel) => ({ ...panel, path: `${name} / ${title} / ${panel.title}` })),
);

const sync = { api: '20200115', items: [] };

test('the files of the dashboards are what their definitions say', (t) => {
  for (const dashboard of dashboards)
    t.is(readFileSync(new URL(dashboardFile(dashboard), root), 'utf8'), dashboardText(dashboard));
  t.deepEqual(
    readdirSync(new URL('helm/files/dashboards', root)).sort(),
    dashboards.map(({ name }) => `${name}.json`).sort(),
  );
});

test('every metric of docs/metrics.md is on a dashboard, but those of operators and scheduled backups', (t) => {
  const documented = [
    ...readFileSync(new URL('docs/metrics.md', root), 'utf8').matchAll(/^\| `([a-z_]+)`/gm),
  ];
  const text = JSON.stringify(dashboards);
  const missing = documented.map(([, name = '']) => name).filter((name) => !text.includes(name));
  t.deepEqual(missing, [
    // Only a single process with BACKUP_SCHEDULE has them, and an alert watches the first.
    'scriptorium_backup_last_success_timestamp_seconds',
    'scriptorium_backups_total',
    'scriptorium_grpc_request_duration_seconds',
    'scriptorium_grpc_requests_total',
  ]);
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
  // A rate needs two scrapes of each process.
  await until(async () => {
    t.is((await phone.call('POST', '/v1/items', { body: sync })).status, 200);
    const [scraped] = await prometheus.ask('count(count_over_time(scriptorium_build_info[5m]) > 2)');
    return scraped?.value[1] === '2';
  });

  for (const { path, queries } of panels) {
    for (const { expr } of queries) {
      const query = expr.replaceAll(/\$(?:job|instance)\b/g, '.*').replaceAll('$__rate_interval', '30s');
      const samples = await prometheus.ask(query);
      t.not(samples.length, 0, `${path}: ${query}`);
      t.true(
        samples.every(({ value }) => !value[1].includes('NaN') || query.includes('histogram')),
        path,
      );
    }
  }
  const [processes] = await prometheus.ask('count(scriptorium_build_info)');
  t.is(processes?.value[1], '2');
  t.true(
    Number((await prometheus.ask('sum(scriptorium_http_request_duration_seconds_count)'))[0]?.value[1]) > 2,
  );
});
