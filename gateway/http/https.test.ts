import test from 'ava';
import { emptyRoute, startGateway } from '../../test/kit/gateway.ts';

const routes = [emptyRoute('GET', '/v1/x')];
const year = 'max-age=31536000';

async function hstsOf(url: string, headers: Record<string, string> = {}, path = '/v1/x') {
  return (await fetch(url + path, { headers })).headers.get('strict-transport-security');
}

const warnings = (log: readonly Record<string, unknown>[]) =>
  log.filter(({ msg }) => String(msg).includes('PUBLIC_URL')).length;

test('behind an https address every reply says so, refusals and preflights too', async (t) => {
  const { url, log } = await startGateway(t, routes, { isPublicUrlHttps: true });
  for (const path of ['/v1/x', '/v1/nowhere']) t.is(await hstsOf(url, {}, path), year);
  const preflight = await fetch(`${url}/v1/x`, { method: 'OPTIONS', headers: { origin: 'https://a.test' } });
  t.is(preflight.headers.get('strict-transport-security'), year);
  t.is(await hstsOf(url, { 'x-forwarded-proto': 'https' }), year);
  t.is(warnings(log), 0);
});

test('if a trusted proxy says https and PUBLIC_URL does not, replies say so and the operator is warned once', async (t) => {
  const { url, log } = await startGateway(t, routes, { trustProxy: 'loopback' });
  t.is(await hstsOf(url), null);
  t.is(await hstsOf(url, { 'x-forwarded-proto': 'http' }), null);
  t.is(await hstsOf(url, { 'x-forwarded-proto': 'http, https' }), null);
  t.is(warnings(log), 0);
  for (const said of ['https', 'HTTPS, http', 'https'])
    t.is(await hstsOf(url, { 'x-forwarded-proto': said }), year);
  t.is(warnings(log), 1);
});

test('a header that anyone could have typed warns no operator', async (t) => {
  for (const trustProxy of ['false', '10.0.0.0/8']) {
    const { url, log } = await startGateway(t, routes, { trustProxy });
    t.is(await hstsOf(url, { 'x-forwarded-proto': 'https' }), year);
    t.is(warnings(log), 0);
  }
});

test('an operator may turn the header off', async (t) => {
  const { url } = await startGateway(t, routes, { isPublicUrlHttps: true, hstsSeconds: 0 });
  t.is(await hstsOf(url), null);
});
