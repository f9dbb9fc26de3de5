/** When a load test on Kubernetes is over, and the problems that a run finds in its pages. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { page } from '../../load-tests/report/page.ts';
import { type Report, reportOf } from '../../load-tests/report/report.ts';
import { shell } from '../kit/shell.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { awaitEnd, complaintsAbout } from './load-test.ts';

const run = {
  scenario: 'steady-mix',
  profile: 'smoke',
  perSecond: 10,
  machines: 2,
  durationSeconds: 60,
  gateways: 1,
  nodes: 1,
  beganAt: '2026-11-22T10:00:00.000Z',
  before: {},
  after: {},
};
const values = { count: 20, avg: 1, max: 1 };
const blind: Report = reportOf(
  { state: { testRunDurationMs: 60_000 }, metrics: { 'http_req_duration{operation:edit}': { values } } },
  run,
);
const seeing: Report = { ...blind, server: [{ name: 'server_cpu_cores', mean: 1, max: 1 }] };

test('all pods have passed, and one of them has seen the server', (t) => {
  t.deepEqual(complaintsAbout([page(seeing), page(blind)]), []);
});

test('nobody may have failed, or printed no page, or be missing', (t) => {
  const failed = page({ ...blind, verdict: 'failed' });
  t.regex(complaintsAbout([page(seeing), failed]).join(), /^a pod has not passed/);
  t.regex(complaintsAbout([page(seeing), 'GoError: no users']).join(), /^a pod printed no page: GoError/);
  t.deepEqual(complaintsAbout([page(seeing)]), ['1 pages of 2 pods']);
});

test('the metrics that were asked for have to be there', (t) => {
  t.deepEqual(complaintsAbout([page(blind), page(blind)]), ['no page shows the server meanwhile']);
  const unread = { ...seeing, metrics: { scrapes: 38, unread: 2, answers: { 421: 2 } } };
  t.regex(complaintsAbout([page(unread), page(blind)]).join(), /^metrics could not be read: .*421/);
});

/** The output of kubectl about the Job, one for each call. */
const conditions = {
  complete: ['', 'SuccessCriteriaMet', 'SuccessCriteriaMet Complete', 'asked too often'],
  failed: ['', '', 'FailureTarget', 'FailureTarget Failed', 'asked too often'],
};

for (const [end, said] of Object.entries(conditions)) {
  test(`the wait for a Job ends when it is ${end}`, async (t) => {
    const folder = temporaryFolder(t);
    const left = join(folder, 'left');
    writeFileSync(left, `${said.join('\n')}\n`);
    const program = (name: string, script: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, name), 0o755);
    };
    program('kubectl', `head -n 1 ${left} && sed -i 1d ${left}`);
    program('sleep', 'exit 0');
    await shell(awaitEnd, { env: { PATH: `${folder}:${process.env['PATH']}` } });
    t.is(readFileSync(left, 'utf8'), 'asked too often\n');
  });
}
