import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createClientAddress } from '../../gateway/admission/client-address.ts';
import { createProxyProbe, probeQuestion } from '../../gateway/admission/proxy-probe.ts';
import { healthRoutes } from '../../gateway/routes/health.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { createAuthority } from '../../test/kit/certificates.ts';
import { startGateway } from '../../test/kit/gateway.ts';
import { checkCertificate, checkPublicUrl } from './public-url.ts';

const nowMs = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;

async function listen(t: ExecutionContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

const statesOf = async (url: string, question?: string) =>
  (await checkPublicUrl(url, nowMs, question)).map(({ check, state }) => `${check}: ${state}`);

test('a server that is reached as it is has nothing to mend', async (t) => {
  const readiness = createReadiness({}, systemClock);
  const key = Buffer.alloc(32, 1);
  const proxyProbe = createProxyProbe(key, systemClock, createClientAddress('loopback'));
  const routes = healthRoutes({ readiness, filesServerUrl: '', captchaUiUrl: null, proxyProbe });
  const { url } = await startGateway(t, routes);
  t.deepEqual(await statesOf(url, probeQuestion(key, systemClock.nowMs(), systemRandom)), [
    'public address: ok',
    'sockets: ok',
    'addresses of clients: ok',
    'host: ok',
  ]);
});

test('a proxy that passes neither paths nor upgrades is told apart from the server', async (t) => {
  const notFound: RequestListener = (_request, response) => response.writeHead(404).end();
  const port = await listen(t, createServer(notFound));
  const findings = await checkPublicUrl(`http://127.0.0.1:${port}`, nowMs, undefined);
  t.deepEqual(
    findings.map(({ check, state }) => `${check}: ${state}`),
    ['public address: problem', 'sockets: problem'],
  );
  t.regex(findings[1]?.found ?? '', /answered 404 there, and by the server 401/);
  t.true(findings.every(({ remedy }) => remedy !== undefined));
});

test('a certificate that clients do not trust is one problem', async (t) => {
  const authority = createAuthority();
  t.teardown(() => authority.remove());
  const { cert, key } = authority.issue('localhost');
  const options = { cert: readFileSync(cert), key: readFileSync(key) };
  const port = await listen(
    t,
    createTlsServer(options, (_request, response) => response.end()),
  );
  const findings = await checkPublicUrl(`https://localhost:${port}`, nowMs, undefined);
  t.is(findings.length, 1);
  t.regex(findings[0]?.found ?? '', /Nobody answers at PUBLIC_URL: .*(certificate|verify)/);
});

test('nobody there is one problem', async (t) => {
  t.deepEqual(await statesOf('http://127.0.0.1:1'), ['public address: problem']);
});

test('a certificate is told of two weeks before its end', (t) => {
  const state = (days: number) =>
    checkCertificate({ certificateEndMs: nowMs + days * dayMs }, nowMs)[0]?.state;
  t.deepEqual([state(14), state(13), state(-1)], ['ok', 'warning', 'warning']);
  t.deepEqual(checkCertificate({ certificateEndMs: undefined }, nowMs), []);
});
