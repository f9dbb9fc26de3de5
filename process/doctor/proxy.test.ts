/** The doctor asks a gateway through a proxy of the test's own, as it asks a server. */
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createClientAddress } from '../../gateway/admission/client-address.ts';
import { createProxyProbe, probeKeyPurpose, probeQuestion } from '../../gateway/admission/proxy-probe.ts';
import { healthRoutes } from '../../gateway/routes/health.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { startGateway } from '../../test/kit/gateway.ts';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';
import { configurationFrom } from '../config/config.ts';
import { examine } from './doctor.ts';
import { checkProxy } from './proxy.ts';
import { checkPublicUrl } from './public-url.ts';

const key = Buffer.alloc(32, 1);
const https = 'https://notes.test';
const question = () => probeQuestion(key, systemClock.nowMs(), systemRandom);
const statesOf = (findings: ReturnType<typeof checkProxy>) =>
  findings.map(({ check, state }) => `${check}: ${state}`);

/** The address under which clients reach a server through a proxy that adds `headers`. */
async function behindProxy(
  t: ExecutionContext,
  trustProxy: string,
  headers: Readonly<Record<string, string>>,
  probeKey: Buffer = key,
): Promise<string> {
  const proxyProbe = createProxyProbe(probeKey, systemClock, createClientAddress(trustProxy));
  const readiness = createReadiness({}, systemClock);
  const routes = healthRoutes({ readiness, filesServerUrl: '', captchaUiUrl: null, proxyProbe });
  const { port } = await startGateway(t, routes, { trustProxy });
  const proxy = createServer((incoming, outgoing) => {
    const options = { port, host: '127.0.0.1', path: incoming.url, agent: false };
    httpRequest({ ...options, headers: { ...incoming.headers, ...headers } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    }).end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

const findingsBehind = async (
  t: ExecutionContext,
  trustProxy: string,
  headers: Readonly<Record<string, string>>,
) => {
  const findings = await checkPublicUrl(await behindProxy(t, trustProxy, headers), 0, question());
  return findings.filter(({ check }) => check !== 'public address' && check !== 'sockets');
};

test('behind a proxy that is trusted, there is nothing to mend', async (t) => {
  const findings = await findingsBehind(t, 'loopback', { 'X-Forwarded-For': '198.51.100.7' });
  t.deepEqual(statesOf(findings), ['addresses of clients: ok', 'host: ok']);
});

test('a proxy that TRUST_PROXY does not trust is a problem', async (t) => {
  const findings = await findingsBehind(t, '10.0.0.0/8', { 'X-Forwarded-For': '198.51.100.7' });
  t.deepEqual(statesOf(findings), ['addresses of clients: problem', 'host: ok']);
  t.regex(findings[0]?.found ?? '', /share one rate limit/);
  t.regex(findings[0]?.remedy ?? '', /TRUST_PROXY/);
});

test('a proxy that replaces Host is told', async (t) => {
  const headers = { 'X-Forwarded-For': '198.51.100.7', host: 'upstream' };
  const findings = await findingsBehind(t, 'loopback', headers);
  t.deepEqual(statesOf(findings), ['addresses of clients: ok', 'host: warning']);
});

test('a proxy that reports neither address nor protocol is told of at an https address', (t) => {
  const findings = checkProxy(https, 'question', 'absent;absent;notes.test');
  t.deepEqual(statesOf(findings), ['addresses of clients: problem', 'protocol: warning', 'host: ok']);
  t.regex(findings[0]?.found ?? '', /no X-Forwarded-For/);
  t.regex(findings[1]?.found ?? '', /taken for http: the proxy sends no X-Forwarded-Proto/);
});

test('a protocol that is not believed is told with the reason', (t) => {
  const protocolOf = (protocol: string) =>
    checkProxy(https, 'question', `believed;${protocol};notes.test`)[1];
  t.is(protocolOf('https')?.state, 'ok');
  t.regex(protocolOf('other')?.found ?? '', /another X-Forwarded-Proto/);
  t.regex(protocolOf('ignored')?.remedy ?? '', /TRUST_PROXY/);
});

test('a server that does not recognise the doctor, or a secret key that it cannot read, is one warning', async (t) => {
  const url = await behindProxy(t, 'loopback', {});
  const stranger = probeQuestion(Buffer.alloc(32, 2), systemClock.nowMs(), systemRandom);
  t.deepEqual(statesOf((await checkPublicUrl(url, 0, stranger)).slice(-1)), ['proxy: warning']);
  const withoutKey = checkProxy(url, undefined, undefined);
  t.deepEqual(statesOf(withoutKey), ['proxy: warning']);
  t.regex(withoutKey[0]?.found ?? '', /cannot read the secret key/);
});

test('strangers are answered by the health check as ever', async (t) => {
  const response = await fetch(`${await behindProxy(t, 'loopback', {})}/healthcheck`);
  t.is(response.headers.get('x-scriptorium-probe'), null);
  t.is(await response.text(), 'OK');
});

test('the doctor takes the secret key from its setting or the data directory, and does not make one', async (t) => {
  const rootSecret = Buffer.alloc(32, 3);
  const publicUrl = await behindProxy(
    t,
    'loopback',
    { 'X-Forwarded-For': '198.51.100.7' },
    createKeyring(rootSecret).derive(probeKeyPurpose),
  );
  const folder = temporaryFolder(t);
  const environment = { DATA_DIR: folder, PUBLIC_URL: publicUrl };
  const stateWith = async (more: Readonly<Record<string, string>>) => {
    const findings = await examine(() => configurationFrom({ ...environment, ...more }));
    return findings.find(({ check }) => check === 'addresses of clients' || check === 'proxy')?.state;
  };
  t.is(await stateWith({}), 'warning');
  t.deepEqual(readdirSync(folder), []);
  t.is(await stateWith({ SECRET_KEY: rootSecret.toString('hex') }), 'ok');
  writeFileSync(join(folder, 'secret-key'), rootSecret.toString('hex'));
  t.is(await stateWith({}), 'ok');
});
