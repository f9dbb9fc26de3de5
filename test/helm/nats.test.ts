/**
 * The chart's other servers, NATS and CockroachDB, get settings that they accept, and learn of renewed certificates.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { findProgram } from '../../tools/program.ts';
import { natsServer } from '../../tools/programs.ts';
import { createAuthority, type Issued } from '../kit/certificates.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { cases } from './cases.ts';
import { podOf, render, the } from './chart.ts';

const secured = 'cluster with NATS and CockroachDB of the chart';
const env = { ...process.env, POD_NAME: 'notes-scriptorium-nats-0' };

/** The configuration of the chart's servers, with an existing certificate. */
async function configurationBy(
  title: keyof typeof cases,
  { cert, key }: Issued,
  ca: string,
): Promise<string> {
  const { data } = the(await render(cases[title]), 'ConfigMap', 'notes-scriptorium-nats') as unknown as {
    data: Record<string, string>;
  };
  return (data['nats.conf'] ?? '')
    .replaceAll('/etc/nats/tls/tls.crt', cert)
    .replaceAll('/etc/nats/tls/tls.key', key)
    .replaceAll('/etc/nats/tls/ca.crt', ca);
}

/** Debian’s nats-server does not know this word yet. */
const forOlder = (text: string): string => text.replace(/^ *sync_interval: always$/m, '');

test('NATS takes its configuration, with certificates and without', async (t) => {
  const folder = temporaryFolder(t);
  const authority = createAuthority();
  t.teardown(authority.remove);
  for (const title of [secured, 'cluster with NATS of the chart and no certificates'] as const) {
    const text = await configurationBy(title, authority.issue('nats'), authority.ca);
    t.regex(text, /sync_interval: always/);
    const file = join(folder, 'nats.conf');
    writeFileSync(file, forOlder(text));
    const options = { env, encoding: 'utf8' } as const;
    const ran = spawnSync(findProgram(natsServer, process.env), ['-t', '-c', file], options);
    t.is(ran.status, 0, ran.stderr);
  }
});

interface Server {
  readonly process: ChildProcess;
  /** Its next output that matches this. */
  next(pattern: RegExp): Promise<RegExpExecArray>;
}

function startNats(t: ExecutionContext, file: string): Server {
  const process = spawn(findProgram(natsServer, env), ['-D', '-c', file], { env });
  t.teardown(() => process.kill('SIGKILL'));
  const lines = createInterface({ input: process.stderr })[Symbol.asyncIterator]();
  const next = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done) throw new Error(`ended without ${pattern}`);
      const found = pattern.exec(value);
      if (found !== null) return found;
    }
  };
  return { process, next };
}

test('a certificate of the authority that is no server of NATS joins no cluster of NATS', async (t) => {
  t.timeout(60_000);
  const folder = temporaryFolder(t);
  const authority = createAuthority();
  t.teardown(authority.remove);
  const ofServers = authority.issue('*.notes-scriptorium-nats.apps.svc');
  const text = await configurationBy(secured, ofServers, authority.ca);
  const here = text
    .replaceAll(/0\.0\.0\.0:\d+/g, '127.0.0.1:-1')
    .replace('/run/server/pid', join(folder, 'pid'))
    .replace('/var/lib/nats', folder);
  writeFileSync(join(folder, 'first.conf'), forOlder(here));
  const first = startNats(t, join(folder, 'first.conf'));
  const [, route] = await first.next(/Listening for route connections on (\S+)/);
  const joinBy = (name: string, { cert, key }: Issued): Server => {
    const tls = `cert_file: "${cert}"\nkey_file: "${key}"\nca_file: "${authority.ca}"\ninsecure: true`;
    const cluster = `name: notes-scriptorium-nats\nlisten: 127.0.0.1:-1\nroutes: [nats://${route}]\ntls {\n${tls}\n}`;
    writeFileSync(join(folder, name), `listen: 127.0.0.1:-1\ncluster {\n${cluster}\n}\n`);
    return startNats(t, join(folder, name));
  };
  const outcome = /(authentication error|Registering remote route)/;
  const stranger = joinBy('stranger.conf', authority.issue('scriptorium'));
  t.is((await first.next(outcome))[1], 'authentication error');
  stranger.process.kill('SIGKILL');
  joinBy('second.conf', ofServers);
  await t.notThrowsAsync(first.next(/Registering remote route/));
});

const renewing = [
  ['notes-scriptorium-nats', '/etc/nats/tls', 'tls.crt'],
  ['notes-scriptorium-cockroachdb', '/cockroach/certs', 'node.crt'],
] as const;

for (const [name, certificates, certificate] of renewing) {
  test(`${name}: what tells it of a renewed certificate signals its process`, async (t) => {
    const folder = temporaryFolder(t);
    const { spec } = podOf(the(await render(cases[secured]), 'StatefulSet', name));
    const [server, renewals] = spec.containers;
    t.true(spec.shareProcessNamespace);
    for (const { volumeMounts } of [server, renewals])
      t.true(volumeMounts.some((of: { mountPath: string }) => of.mountPath === '/run/server'));
    writeFileSync(join(folder, certificate), 'old');
    writeFileSync(join(folder, 'ca.crt'), 'authority');
    writeFileSync(join(folder, 'pid'), '4321');
    const loop = renewals.args[0].replaceAll(certificates, folder).replaceAll('/run/server', folder);
    // One look at an unchanged certificate, one at a renewed one, and the end at the signal.
    const script = `
sleep() { looks=$((\${looks:-0} + 1)); [ $looks -lt 2 ] || printf new > ${folder}/${certificate}; }
wait() { :; }
kill() { echo "$looks $*"; exit 0; }
${loop.replace('sleep 30 &', 'sleep 30;')}`;
    const ran = spawnSync(renewals.command[0], ['-c', script], { encoding: 'utf8', timeout: 10_000 });
    t.is(ran.stdout, '2 -HUP 4321\n', ran.stderr);
  });
}
