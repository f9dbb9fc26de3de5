/** The load test of the chart, as load-tests/README.md has it made: users, an archive, a Secret, a Job, its page. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../kit/server-process.ts';
import { type Installation, upgrade } from './installation.ts';
import { images } from './machine/images.ts';
import { namespace } from './surroundings.ts';

const run = promisify(execFile);
const service = 'http://notes-scriptorium';
const metrics = 'http://notes-scriptorium-hosts-0.notes-scriptorium-pods:9090/metrics';
const jobs = ['--namespace', namespace, '--selector', 'app.kubernetes.io/component=load-test'];

/** @throws Error unless the Job is complete and its page says that the run has passed */
export async function loadTest(installation: Installation): Promise<void> {
  const { operator, folder, url } = installation;
  const users = join(folder, 'users.json');
  const archive = join(folder, 'load-test.tar');
  await loadTests('seed', '--profile', 'smoke', '--url', url, '--users', users);
  const about = ['--profile', 'smoke', '--users', users, '--metrics-url', metrics];
  await loadTests('archive', 'steady-mix', ...about, '--url', service, '--out', archive);
  await operator.kubectl(
    '--namespace',
    namespace,
    'create',
    'secret',
    'generic',
    'load-test',
    `--from-file=${archive}`,
  );
  const small = ['loadTest.resources.requests.cpu=50m', 'loadTest.resources.requests.memory=128Mi'];
  await upgrade(
    installation,
    'loadTest.enabled=true',
    'loadTest.archiveSecret=load-test',
    `loadTest.image=${images.k6}`,
    ...small,
  );
  await operator.kubectl('wait', '--for=condition=complete', '--timeout=300s', 'job', ...jobs);
  const logs = await operator.kubectl('logs', ...jobs, '--tail=-1');
  const [page] = /^<!doctype[\s\S]*^<\/html>/im.exec(logs) ?? [];
  if (page === undefined) throw new Error(`the load test printed no page: ${logs.slice(-500)}`);
  writeFileSync(join(folder, 'load-test.html'), page);
  await upgrade(installation, 'loadTest.enabled=false');
}

const loadTests = (...args: readonly string[]): Promise<unknown> =>
  run(process.execPath, ['--import=tsx', 'load-tests/run.ts', ...args], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  });
