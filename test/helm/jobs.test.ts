/** The scripts and files that the chart puts into pods do their work. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { cases } from './cases.ts';
import { chartFolder, podOf, render, type Tree, the } from './chart.ts';

function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-jobs-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The backup of one pod with files in its data directory, with a `psql` that prints this, in a separate folder. */
async function backUp(folder: string, said: string, keep = 14): Promise<number | null> {
  const manifests = await render({ ...cases.small, values: { backup: { keep } } });
  const [container] = podOf(the(manifests, 'CronJob')).spec.containers;
  const programs = the(manifests, 'ConfigMap', 'notes-scriptorium-backup')['data'] as Record<string, string>;
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text);
  const here = (text: string): string =>
    text.replace('/var/lib/scriptorium', join(folder, 'server')).replace('/etc/scriptorium-backup', folder);
  writeFileSync(join(folder, 'psql'), `#!/bin/sh\nprintf '%s\\n' "$PGPASSWORD" '${said}'\n`);
  chmodSync(join(folder, 'psql'), 0o755);
  const given = container.env.map((of: Tree) => [of.name, here(of.value)]);
  const env = { ...Object.fromEntries(given), PATH: `${folder}:${process.env['PATH']}` };
  const [shell = '', ...args] = [...container.command, ...container.args].map(here);
  return spawnSync(shell, args, { cwd: join(folder, 'backup'), env }).status;
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

/** Copies of the database of former days. */
function backedUpBefore(folder: string, count: number): readonly string[] {
  const names = Array.from({ length: count }, (_, n) => `scriptorium-202601${n + 10}T000000Z`);
  for (const name of names) {
    writeFileSync(join(folder, 'backup', `${name}.sql.gz`), '');
    writeFileSync(join(folder, 'backup', `${name}.files.gz`), gzipSync(''));
  }
  return names.map((name) => `${name}.sql.gz`);
}

test('a backup that was cut short fails, and the last that was not stays', async (t) => {
  for (const keep of [1, 2]) {
    const folder = temporaryFolder(t);
    makeServer(folder);
    const [last] = backedUpBefore(folder, 1);
    t.not(await backUp(folder, 'COPY', keep), 0);
    t.not(await backUp(folder, 'COPY', keep), 0);
    t.deepEqual(backupsIn(folder), [last]);
  }
});

test('the oldest backup makes room before the next one needs it', async (t) => {
  const folder = temporaryFolder(t);
  makeServer(folder);
  const older = backedUpBefore(folder, 20);
  t.not(await backUp(folder, 'COPY'), 0);
  t.deepEqual(backupsIn(folder).toSorted(), older.slice(-13));
  t.is(await backUp(folder, 'COMMIT;'), 0);
  t.is(backupsIn(folder).length, 14);
  t.true(older.slice(-13).every((name) => backupsIn(folder).includes(name)));
});

test('a backup fails when psql does, whatever it has written', async (t) => {
  const folder = temporaryFolder(t);
  makeServer(folder);
  t.not(await backUp(folder, "COMMIT;'; exit 3 #"), 0);
  t.deepEqual(backupsIn(folder), []);
});

test('a file that was deleted is kept as long as a backup of a time when it was there', async (t) => {
  const folder = temporaryFolder(t);
  const store = makeServer(folder);
  const isCopied = (name: string): boolean => existsSync(join(folder, 'backup/files', name));
  store('ab/gone', 'deleted');
  store('ab/here', 'kept');
  t.is(await backUp(folder, 'COMMIT;', 2), 0);
  rmSync(join(folder, 'server/data/files/ab/gone'));
  for (const expected of [true, false]) {
    // Otherwise it would be made in the same second, and be the same one.
    const [newest = ''] = backupsIn(folder).toSorted().toReversed();
    for (const kind of ['sql', 'files'])
      renameSync(
        join(folder, 'backup', newest.replace('sql', kind)),
        join(folder, 'backup', `scriptorium-2026010${expected ? 1 : 2}T000000Z.${kind}.gz`),
      );
    t.is(await backUp(folder, 'COMMIT;', 2), 0);
    t.is(isCopied('ab/gone'), expected);
  }
  t.true(isCopied('ab/here'));
  t.is(backupsIn(folder).length, 2);
});

test('files that have all gone at once are kept: their folder may not be mounted', async (t) => {
  const folder = temporaryFolder(t);
  const store = makeServer(folder);
  store('ab/one', 'first');
  t.is(await backUp(folder, 'COMMIT;', 1), 0);
  rmSync(join(folder, 'server/data/files/ab'), { recursive: true });
  t.is(await backUp(folder, 'COMMIT;', 1), 0);
  t.true(existsSync(join(folder, 'backup/files/ab/one')));
});

test('a backup of a server without a folder of files is that of its database', async (t) => {
  const folder = temporaryFolder(t);
  makeServer(folder);
  rmSync(join(folder, 'server/data/files'), { recursive: true });
  t.is(await backUp(folder, 'COMMIT;'), 0);
  t.is(backupsIn(folder).length, 1);
});

test('a list of files whose backup was ended early goes, and keeps no file', async (t) => {
  const folder = temporaryFolder(t);
  const store = makeServer(folder);
  store('ab/one', 'first');
  t.is(await backUp(folder, 'COMMIT;', 1), 0);
  const early = join(folder, 'backup/scriptorium-20260101T000000Z.files.gz');
  writeFileSync(early, gzipSync('ab/deleted\n').subarray(0, 12));
  mkdirSync(join(folder, 'backup/files/ab'), { recursive: true });
  writeFileSync(join(folder, 'backup/files/ab/deleted'), 'deleted');
  t.is(await backUp(folder, 'COMMIT;', 1), 0);
  t.false(existsSync(early));
  t.false(existsSync(join(folder, 'backup/files/ab/deleted')));
});

/** psql's input for this address of the database: its environment as far as libpq reads it, and its arguments. */
function psqlBy(t: ExecutionContext, address: string): { told: Record<string, string>; args: string } {
  const ran = runPsql(t, address);
  t.is(ran.status, 0, ran.stderr);
  const [args = '', ...lines] = ran.stdout.trim().split('\n');
  const told = Object.fromEntries(lines.map((line) => line.split('=')));
  // libpq 17 refuses some that are.
  t.false(Object.values(told).includes(''));
  return { told, args };
}

function runPsql(t: ExecutionContext, address: string) {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'psql'), '#!/bin/sh\necho "$@"\nenv | grep ^PG\n');
  chmodSync(join(folder, 'psql'), 0o755);
  writeFileSync(join(folder, 'url'), `${address}\n`);
  const env = { PATH: `${folder}:${process.env['PATH']}`, DATABASE_URL_FILE: join(folder, 'url') };
  return spawnSync('node', [`${chartFolder}files/psql.mjs`, '-XqAt'], { env, encoding: 'utf8' });
}

test('psql gets the address of the database by its environment, where nobody else reads the password', (t) => {
  const { told, args } = psqlBy(t, 'postgresql://no%40tes:pass%2Fword@db.example.org:5433/notes');
  t.deepEqual(told, {
    PGHOST: 'db.example.org',
    PGPORT: '5433',
    PGUSER: 'no@tes',
    PGPASSWORD: 'pass/word',
    PGDATABASE: 'notes',
    PGSSLMODE: 'disable',
  });
  t.is(args, '-XqAt');
});

test('psql is as careful with the database as the server, and not less or more', (t) => {
  const roots = '/etc/ssl/certs/ca-certificates.crt';
  const tlsBy = (parameters: string) => {
    const { told } = psqlBy(t, `postgresql://notes@db/notes?${parameters}`);
    return [told['PGSSLMODE'], told['PGSSLROOTCERT'], told['PGSSLCERT'], told['PGSSLKEY']];
  };
  t.deepEqual(tlsBy('sslmode=disable'), ['disable', undefined, undefined, undefined]);
  t.deepEqual(tlsBy('sslmode=verify-full'), ['verify-full', roots, undefined, undefined]);
  t.deepEqual(tlsBy('sslmode=require'), ['verify-full', roots, undefined, undefined]);
  t.deepEqual(tlsBy('sslmode=no-verify&sslrootcert=/ca'), ['require', undefined, undefined, undefined]);
  t.deepEqual(tlsBy('sslrootcert=/ca'), ['verify-full', '/ca', undefined, undefined]);
  t.deepEqual(tlsBy('sslcert=/c&sslkey=/k'), ['verify-full', roots, '/c', '/k']);
  t.deepEqual(tlsBy('sslnegotiation=direct'), ['verify-full', roots, undefined, undefined]);
  t.deepEqual(tlsBy('uselibpqcompat=true&sslmode=require'), ['require', undefined, undefined, undefined]);
  t.deepEqual(tlsBy('uselibpqcompat=true&sslmode=verify-ca'), ['verify-ca', roots, undefined, undefined]);
});

test('psql takes an address without a host, and tells nobody of one that is none', (t) => {
  const { told } = psqlBy(t, 'postgresql://notes:word@/notes?host=/run/postgresql');
  t.is(told['PGHOST'], '/run/postgresql');
  t.is(told['PGPASSWORD'], 'word');
  const ran = runPsql(t, 'postgresql://notes:secret/word@db/notes');
  t.not(ran.status, 0);
  t.regex(ran.stderr, /the address of the database is none/);
  t.notRegex(ran.stderr, /secret/);
});

test('the backup may ask the database by an address of its own, and cannot write to the data of the server', async (t) => {
  const { values, presets } = cases['cluster with everything around it'];
  const rendering = {
    presets,
    values: { ...values, backup: { enabled: true, databaseUrlKey: 'read-only' } },
  };
  const { spec } = podOf(the(await render(rendering), 'CronJob'));
  const [{ projected }] = spec.volumes.filter((of: Tree) => of.name === 'secrets');
  t.deepEqual(projected.sources, [
    { secret: { name: 'scriptorium', items: [{ key: 'read-only', path: 'DATABASE_URL' }] } },
  ]);
  const single = the(await render(cases.small), 'CronJob');
  const [{ volumeMounts }] = podOf(single).spec.containers;
  const [data] = volumeMounts.filter((of: Tree) => of.name === 'data');
  t.true(data.readOnly);
  t.is(single['spec'].jobTemplate.spec.activeDeadlineSeconds, 21_600);
});
