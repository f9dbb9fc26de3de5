/** The scripts and files that the chart puts into pods do what they are for. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { natsServer } from '../../tools/nats-server.ts';
import { findProgram } from '../../tools/program.ts';
import { createAuthority } from '../kit/certificates.ts';
import { cases } from './cases.ts';
import { podOf, render, the } from './chart.ts';

function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-jobs-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The backup of one pod with files in its data directory, with a `psql` that says this, in a folder of its own. */
async function backUp(folder: string, said: string): Promise<number | null> {
  const [container] = podOf(the(await render(cases.small), 'CronJob')).spec.containers;
  const script: string = container.args[0]
    .replaceAll('/var/lib/scriptorium', join(folder, 'server'))
    .replace('cd /backup', `cd ${join(folder, 'backup')}`);
  writeFileSync(join(folder, 'psql'), `#!/bin/sh\nprintf '%s\\n' "$PGPASSWORD" '${said}'\n`);
  chmodSync(join(folder, 'psql'), 0o755);
  const [shell = '', ...flags] = container.command;
  const env = { PATH: `${folder}:${process.env['PATH']}` };
  return spawnSync(shell, [...flags, script], { env }).status;
}

function makeServer(folder: string): (name: string, text: string) => void {
  const files = join(folder, 'server/data/files');
  mkdirSync(join(files, 'incoming'), { recursive: true });
  mkdirSync(join(files, 'ab'));
  mkdirSync(join(folder, 'backup'));
  writeFileSync(join(folder, 'server/data/postgres-password'), 'sesame\n');
  return (name, text) => writeFileSync(join(files, name), text);
}

const backupsIn = (folder: string): readonly string[] =>
  readdirSync(join(folder, 'backup')).filter((name) => name.endsWith('.sql.gz'));

test('a backup is the database whole and the files that are whole', async (t) => {
  const folder = temporaryFolder(t);
  const store = makeServer(folder);
  store('ab/one', 'first');
  store('incoming/half', 'fir');
  t.is(await backUp(folder, 'COMMIT;'), 0);
  const [backup = '', ...more] = backupsIn(folder);
  t.deepEqual(more, []);
  t.is(gunzipSync(readFileSync(join(folder, 'backup', backup))).toString(), 'sesame\nCOMMIT;\n');
  t.is(readFileSync(join(folder, 'backup/files/ab/one'), 'utf8'), 'first');
  t.false(existsSync(join(folder, 'backup/files/incoming')));
  store('ab/one', 'never changed');
  store('ab/two', 'second');
  t.is(await backUp(folder, 'COMMIT;'), 0);
  t.is(readFileSync(join(folder, 'backup/files/ab/one'), 'utf8'), 'first');
  t.is(readFileSync(join(folder, 'backup/files/ab/two'), 'utf8'), 'second');
});

test('a backup that was cut short fails, and removes no older one', async (t) => {
  const folder = temporaryFolder(t);
  makeServer(folder);
  const older = Array.from({ length: 20 }, (_, n) => `scriptorium-202601${String(n + 10)}T000000Z.sql.gz`);
  for (const name of older) writeFileSync(join(folder, 'backup', name), '');
  t.not(await backUp(folder, 'COPY'), 0);
  t.deepEqual(backupsIn(folder).toSorted(), older);
  t.is(await backUp(folder, 'COMMIT;'), 0);
  t.is(backupsIn(folder).length, 14);
  t.true(older.slice(-13).every((name) => backupsIn(folder).includes(name)));
});

test('NATS takes its configuration, with certificates and without', async (t) => {
  const folder = temporaryFolder(t);
  const authority = createAuthority();
  t.teardown(authority.remove);
  const issued = authority.issue('nats');
  for (const title of [
    'cluster with NATS and CockroachDB of the chart',
    'cluster with NATS of the chart and no certificates',
  ] as const) {
    const { data } = the(await render(cases[title]), 'ConfigMap', 'notes-scriptorium-nats') as unknown as {
      data: Record<string, string>;
    };
    const text = (data['nats.conf'] ?? '')
      .replaceAll('/etc/nats/tls/tls.crt', issued.cert)
      .replaceAll('/etc/nats/tls/tls.key', issued.key)
      .replaceAll('/etc/nats/tls/ca.crt', authority.ca);
    t.regex(text, /sync_interval: always/);
    const file = join(folder, 'nats.conf');
    // Debian’s nats-server is older than this word.
    writeFileSync(file, text.replace(/^ *sync_interval: always$/m, ''));
    const env = { ...process.env, POD_NAME: 'notes-scriptorium-nats-0' };
    const ran = spawnSync(findProgram(natsServer, process.env), ['-t', '-c', file], {
      env,
      encoding: 'utf8',
    });
    t.is(ran.status, 0, ran.stderr);
  }
});

test('what tells NATS of a renewed certificate signals its process', async (t) => {
  const folder = temporaryFolder(t);
  const nats = the(
    await render(cases['cluster with NATS and CockroachDB of the chart']),
    'StatefulSet',
    'notes-scriptorium-nats',
  );
  const [, renewals] = podOf(nats).spec.containers;
  t.true(podOf(nats).spec.shareProcessNamespace);
  writeFileSync(join(folder, 'tls.crt'), 'old');
  writeFileSync(join(folder, 'ca.crt'), 'authority');
  writeFileSync(join(folder, 'nats.pid'), '4321');
  // One look at an unchanged certificate, one at a renewed one, and the end at the signal.
  const script = `
sleep() { looks=$((\${looks:-0} + 1)); [ $looks -lt 2 ] || printf new > ${folder}/tls.crt; }
wait() { :; }
kill() { echo "$looks $*"; exit 0; }
${renewals.args[0].replaceAll('/etc/nats/tls', folder).replaceAll('/run/nats', folder).replace('sleep 30 &', 'sleep 30;')}`;
  const ran = spawnSync(renewals.command[0], ['-c', script], { encoding: 'utf8', timeout: 10_000 });
  t.is(ran.stdout, '2 -HUP 4321\n', ran.stderr);
});
