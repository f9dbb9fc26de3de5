/** Each alert of the chart fires when it should, and none when all is well: by promtool, over made-up series. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import yaml from 'js-yaml';
import { findProgram } from '../../tools/program.ts';
import { promtool } from '../../tools/programs.ts';
import { cases } from './cases.ts';
import { render, type Tree, the } from './chart.ts';

const rendering = cases['small and open, with everything around it'];

/** The server makes its backups itself, and no CronJob. */
const scheduled = {
  ...rendering,
  values: {
    ...rendering.values,
    backup: { enabled: false },
    settings: { ...(rendering.values as Tree)['settings'], BACKUP_SCHEDULE: '03:15' },
  },
};

async function rulesOf(of: Parameters<typeof render>[0] = rendering): Promise<Tree> {
  const manifests = await render(of);
  return the(manifests, 'PrometheusRule')['spec'];
}

/** Runs promtool in a folder with these files. @throws Error with its message */
function check(args: readonly string[], files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-alerts-'));
  try {
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, name), yaml.safeDump(content));
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(findProgram(promtool, process.env), [...args], options);
    if (status !== 0) throw new Error(`${stdout}${stderr}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the labels that Prometheus gives the targets of the ServiceMonitor. */
const series = (metric: string, labels: string, values: string) => ({
  series: `${metric}{namespace="apps",service="notes-pods",pod="p"${labels === '' ? '' : `,${labels}`}}`,
  values,
});

/** A counter that stands still for 20 minutes and then grows. */
const grows = (metric: string, labels = '') => [series(metric, labels, '3x20 4x100')];
/** A counter that first appears when something happens, after 20 minutes. */
const appears = (metric: string, labels: string) => [series(metric, labels, '_x20 1x100')];
const runsOn = (metric: string, labels = '') => [series(metric, labels, '0x20 1+1x100')];
const becomes = (metric: string, well: number, ill: number) => [series(metric, '', `${well}x20 ${ill}x100`)];
/** Prometheus's record of a vanished target. */
const vanishes = (metric: string, value: number) => series(metric, '', `${value}x20 stale`);
const clusterShards = series('scriptorium_cluster_shards', '', '1024x120');
const slowly = (metric: string, labels = '') => [
  series(`${metric}_bucket`, `${labels}le="0.01"`, '0+10x20 200x100'),
  series(`${metric}_bucket`, `${labels}le="10"`, '0+10x20 200+10x100'),
  series(`${metric}_bucket`, `${labels}le="+Inf"`, '0+10x20 200+10x100'),
];

/** In the form of kube-state-metrics. */
const ofBackup = (metric: string, values: string) => ({
  series: `${metric}{namespace="apps",cronjob="notes-backup"}`,
  values,
});

/** The cause of each alert, after 20 healthy minutes. */
const causes: Readonly<Record<string, readonly object[]>> = {
  ScriptoriumDown: [vanishes('up', 1)],
  ScriptoriumFencedWrites: grows('scriptorium_fenced_writes_total'),
  ScriptoriumLeaseInvalid: becomes('scriptorium_lease_valid', 1, 0),
  ScriptoriumClockWrong: becomes('scriptorium_clock_skew_seconds', 0.9, -1.1),
  ScriptoriumShardsUnserved: [...becomes('scriptorium_shards', 1_024, 1_000), clusterShards],
  ScriptoriumHandOverStuck: becomes('scriptorium_shards_leaving', 0, 3),
  ScriptoriumReconciliationStalled: becomes('scriptorium_ownership_reconciliation_age_seconds', 1, 11),
  ScriptoriumHostsUnreachable: becomes('scriptorium_hosts_unreachable', 0, 1),
  ScriptoriumNatsDisconnected: becomes('scriptorium_transport_connected', 1, 0),
  ScriptoriumForeignFrames: appears('scriptorium_transport_rejected_frames_total', 'reason="mac"'),
  ScriptoriumWakeStreamDown: becomes('scriptorium_transport_wake_stream_available', 1, 0),
  ScriptoriumDatabaseRefusesWrites: appears('scriptorium_commits_total', 'outcome="unavailable"'),
  ScriptoriumCommitsUncertain: appears('scriptorium_commits_total', 'outcome="unknown"'),
  ScriptoriumDeliveriesDead: appears('scriptorium_deliveries_total', 'what="timer",outcome="dead"'),
  ScriptoriumUploadsRefused: appears('scriptorium_file_store_calls_total', 'call="write",outcome="full"'),
  ScriptoriumFilesMissing: appears('scriptorium_file_store_calls_total', 'call="read",outcome="missing"'),
  ScriptoriumMailWaits: becomes('scriptorium_mail_queue_oldest_ready_seconds', 200, 301),
  ScriptoriumMailDead: [series('scriptorium_mail_queue_mails', 'state="dead"', '2x20 3x100')],
  ScriptoriumRelayUnable: appears(
    'scriptorium_mail_attempts_total',
    'relay="smtp",outcome="unable",failure="auth"',
  ),
  ScriptoriumAssistantRefused: appears(
    'scriptorium_assistant_answers_total',
    'provider="openai",outcome="refused"',
  ),
  ScriptoriumPairingEnded: appears('scriptorium_pairing_refreshes_total', 'outcome="invalid-grant"'),
  ScriptoriumOverloaded: runsOn('scriptorium_overloaded_total', 'command="saveItems"'),
  ScriptoriumPushesLost: grows('scriptorium_socket_repairs_total', 'cause="gap"'),
  ScriptoriumVaultRegistrationsFail: runsOn('scriptorium_socket_vault_registrations_total', 'outcome="full"'),
  ScriptoriumSlowReaders: runsOn('scriptorium_sockets_closed_total', 'reason="slow"'),
  ScriptoriumSyncLaneShut: [
    ...runsOn('scriptorium_sync_lane_refused_total', 'reason="origin"'),
    series('scriptorium_sync_lane_opened_total', '', '0x120'),
  ],
  ScriptoriumSavesSlow: slowly('scriptorium_commit_batch_seconds'),
  ScriptoriumRequestsSlow: slowly('scriptorium_http_request_duration_seconds', 'route="/v1/items",'),
  ScriptoriumBackupOld: [ofBackup('kube_cronjob_created', '0x120')],
};

const wellAt = '15m';
/** Minutes after the event at 20: long enough for the alert, and while a single event is still visible. */
const comesAt: Readonly<Record<string, string>> = {
  ScriptoriumWakeStreamDown: '30m',
  ScriptoriumOverloaded: '30m',
  ScriptoriumVaultRegistrationsFail: '30m',
  ScriptoriumSavesSlow: '35m',
  ScriptoriumSlowReaders: '45m',
  ScriptoriumRequestsSlow: '45m',
  ScriptoriumSyncLaneShut: '45m',
};
const soon = '24m';

const queryOf = (name: string, eval_time: string, count: number) => ({
  expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) or vector(0)`,
  eval_time,
  exp_samples: [{ labels: '{}', value: count }],
});

const testsOf = (of: Readonly<Record<string, readonly object[]>>) =>
  Object.entries(of).map(([name, input_series]) => ({
    name,
    interval: '1m',
    input_series,
    promql_expr_test: [queryOf(name, wellAt, 0), queryOf(name, comesAt[name] ?? soon, 1)],
  }));

test('the rules are rules', async (t) => {
  const rules = await rulesOf();
  t.notThrows(() =>
    check(['check', 'rules', '--lint=all', '--lint-fatal', 'rules.yaml'], { 'rules.yaml': rules }),
  );
});

test('every alert comes when what it is about happens, and not before', async (t) => {
  const rules = await rulesOf();
  const names = rules.groups[0].rules.map((rule: Tree) => rule.alert);
  t.deepEqual(names, Object.keys(causes), 'each has a test');
  const tests = { rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: testsOf(causes) };
  t.notThrows(() => check(['test', 'rules', 'tests.yaml'], { 'rules.yaml': rules, 'tests.yaml': tests }));
});

/** For one alert: its state some minutes after the event at 20. */
async function alertsBy(
  name: string,
  input_series: readonly object[],
  count: number,
  rules = rulesOf(),
): Promise<void> {
  const of = { name, interval: '1m', input_series, promql_expr_test: [queryOf(name, '40m', count)] };
  const tests = { rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: [of] };
  check(['test', 'rules', 'tests.yaml'], { 'rules.yaml': await rules, 'tests.yaml': tests });
}

const ofPod = (metric: string, pod: string, values: string) => ({
  series: `${metric}{namespace="apps",service="notes-pods",pod="${pod}"}`,
  values,
});

test('shards that two hosts tell of for a moment, as they are asked one after the other, are missed by nobody', async (t) => {
  const shards = [
    ofPod('scriptorium_shards', 'a', '1024x20 512x100'),
    ofPod('scriptorium_shards', 'b', '0x19 512x101'),
  ];
  await t.notThrowsAsync(alertsBy('ScriptoriumShardsUnserved', [...shards, clusterShards], 0));
});

test('readers of the sync lane that are too slow are told of, too', async (t) => {
  const cause = runsOn('scriptorium_sync_lane_closed_total', 'reason="BACKPRESSURE"');
  await t.notThrowsAsync(alertsBy('ScriptoriumSlowReaders', cause, 1));
});

test('the sync lane is not shut while somebody is let in', async (t) => {
  const refused = runsOn('scriptorium_sync_lane_refused_total', 'reason="origin"');
  const opened = runsOn('scriptorium_sync_lane_opened_total');
  await t.notThrowsAsync(alertsBy('ScriptoriumSyncLaneShut', [...refused, ...opened], 0));
});

test('the shards are missed when all hosts are gone and gateways are not', async (t) => {
  const cause = [vanishes('scriptorium_shards', 1_024), clusterShards];
  await t.notThrowsAsync(alertsBy('ScriptoriumShardsUnserved', cause, 1));
});

test('it is down when no process answers, also where Prometheus has never found one, and not while one does', async (t) => {
  const [ill, well] = [ofPod('up', 'a', '1x20 0x100'), ofPod('up', 'b', '1x120')];
  await t.notThrowsAsync(alertsBy('ScriptoriumDown', [ill], 1));
  await t.notThrowsAsync(alertsBy('ScriptoriumDown', [], 1));
  await t.notThrowsAsync(alertsBy('ScriptoriumDown', [ill, well], 0));
});

const transfers = [
  '/v1/files',
  '/v1/shared-vault/files',
  '/v1/files/upload/chunk',
  '/v1/assistant/stream',
] as const;

test('transfers of files and answers of assistants may take long', async (t) => {
  const cause = transfers.flatMap((route) =>
    slowly('scriptorium_http_request_duration_seconds', `route="${route}",`),
  );
  await t.notThrowsAsync(alertsBy('ScriptoriumRequestsSlow', cause, 0));
  for (const route of transfers) t.true(textOf('docs/endpoints.md').includes(`\`${route}\``), route);
});

test('a backup that succeeds is not old, and one that goes on failing is', async (t) => {
  const created = ofBackup('kube_cronjob_created', '0x120');
  const succeeded = (values: string) => [
    created,
    ofBackup('kube_cronjob_status_last_successful_time', values),
  ];
  await t.notThrowsAsync(alertsBy('ScriptoriumBackupOld', succeeded('1800x120'), 0));
  await t.notThrowsAsync(alertsBy('ScriptoriumBackupOld', succeeded('600x120'), 1));
});

test('a server that makes its backups by a schedule alerts by what it says of them', async (t) => {
  const metric = 'scriptorium_backup_last_success_timestamp_seconds';
  const by = (values: string, count: number) =>
    alertsBy('ScriptoriumBackupOld', [series(metric, '', values)], count, rulesOf(scheduled));
  await t.notThrowsAsync(by('1800x120', 0));
  await t.notThrowsAsync(by('600x120', 1));
});

test('another release alerts nobody here', async (t) => {
  const rules = await rulesOf();
  const elsewhere = JSON.parse(JSON.stringify(causes).replaceAll(/notes-(?=pods|backup)/g, 'others-'));
  const isUp = series('up', '', '1x120');
  const tests = testsOf(elsewhere).map((of) => ({
    ...of,
    input_series: [...of.input_series, isUp],
    promql_expr_test: [queryOf(of.name, soon, 0), queryOf(of.name, '45m', 0)],
  }));
  const files = {
    'rules.yaml': rules,
    'tests.yaml': { rule_files: ['rules.yaml'], evaluation_interval: '1m', tests },
  };
  t.notThrows(() => check(['test', 'rules', 'tests.yaml'], files));
});

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every alert links its section of docs/alerts.md, and each section has an alert', async (t) => {
  const sections = [...textOf('docs/alerts.md').matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name);
  const rules: readonly Tree[] = (await rulesOf()).groups[0].rules;
  t.deepEqual(
    rules.map(({ alert }) => alert),
    sections,
  );
  for (const { alert, annotations } of rules)
    t.is(annotations.runbook_url, `https://docs.example.org/alerts.md#${alert.toLowerCase()}`);
});

const linksOf = (text: string): readonly string[] =>
  [...text.matchAll(/#(scriptorium\w+)\)/g)].map(([, anchor = '']) => anchor);

test('docs/alerts.md lists the alerts by their urgency, and docs/operations.md has a symptom for each', async (t) => {
  const rules: readonly Tree[] = (await rulesOf()).groups[0].rules;
  for (const urgency of ['critical', 'warning', 'info']) {
    const [listed = ''] =
      new RegExp(`^- \\*\\*${urgency}\\*\\*[\\s\\S]*?(?=\\n- |\\n\\n)`, 'm').exec(textOf('docs/alerts.md')) ??
      [];
    const expected = rules.filter(({ labels }) => labels.severity === urgency);
    t.deepEqual(
      linksOf(listed),
      expected.map(({ alert }) => alert.toLowerCase()),
      urgency,
    );
  }
  const [symptoms = ''] = /^### By symptom[\s\S]*?(?=^### )/m.exec(textOf('docs/operations.md')) ?? [];
  t.deepEqual([...new Set(linksOf(symptoms))].sort(), rules.map(({ alert }) => alert.toLowerCase()).sort());
});

test('docs/alerts.md says by which metric an alert comes', async (t) => {
  const rules: readonly Tree[] = [
    ...(await rulesOf()).groups[0].rules,
    ...(await rulesOf(scheduled)).groups[0].rules,
  ];
  for (const { alert, expr } of rules) {
    const [, when = ''] =
      new RegExp(`^## ${alert}\\n\\n\\*\\*When\\*\\*([\\s\\S]*?)\\n\\n`, 'm').exec(
        textOf('docs/alerts.md'),
      ) ?? [];
    const named = [...when.matchAll(/`((?:scriptorium|kube|up)(?:_[a-z]+)*)[`{]/g)].map(
      ([, name = '']) => name,
    );
    t.true(
      named.some((metric) => new RegExp(`\\b${metric}(?:_bucket)?\\b`).test(expr)),
      alert,
    );
  }
});
