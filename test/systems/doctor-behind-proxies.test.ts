/** The doctor looks at a real server through real reverse proxies, with the configurations that the guide gives. */
import test, { type ExecutionContext } from 'ava';
import { configurationFrom } from '../../process/config/config.ts';
import { examine } from '../../process/doctor/doctor.ts';
import { reverseProxies, startReverseProxy } from '../kit/reverse-proxies.ts';
import { startServer } from '../kit/started-server.ts';

const limitMs = 120_000;

/** The states of the findings about the way from outside. */
async function examineThrough(
  t: ExecutionContext,
  name: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  t.timeout(limitMs);
  const proxy = reverseProxies[name];
  if (proxy === undefined) throw new Error(`the guide has no ${name}`);
  const server = await startServer(settings);
  t.teardown(() => server.stop());
  const { url } = await startReverseProxy(t, proxy, Number(new URL(server.url).port));
  const environment = { DATA_DIR: server.dataDirectory, PUBLIC_URL: url, ...settings };
  const findings = await examine(() => configurationFrom(environment));
  const ofTheWay = ['public address', 'sockets', 'proxy', 'addresses of clients', 'host'];
  return Object.fromEntries(
    findings.filter(({ check }) => ofTheWay.includes(check)).map(({ check, state }) => [check, state]),
  );
}

const isWell = { 'public address': 'ok', sockets: 'ok', 'addresses of clients': 'ok', host: 'ok' };
const expected: Readonly<Record<string, object>> = {
  // It passes Host without the port, which is another one than that of https here.
  nginx: { ...isWell, host: 'warning' },
  Caddy: isWell,
  HAProxy: isWell,
};
for (const name of Object.keys(reverseProxies)) {
  test(`behind ${name} as the guide configures it, the doctor finds the way from outside well`, async (t) => {
    t.deepEqual(await examineThrough(t, name), expected[name]);
  });
}

test('behind nginx, the doctor finds that the server does not believe it what clients there are', async (t) => {
  const found = await examineThrough(t, 'nginx', { TRUST_PROXY: 'false' });
  t.is(found['addresses of clients'], 'problem');
});
