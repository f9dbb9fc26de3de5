import test from 'ava';
import { z } from 'zod';
import { route } from '../../../gateway/http/route.ts';
import { createAdmin } from '../../../operations/admin.ts';
import { startGateway } from '../../kit/gateway.ts';

const hello = route({
  method: 'GET',
  path: '/v1/hello/:name',
  access: 'public',
  summary: '',
  tag: '',
  request: z.object({ name: z.string() }),
  replies: {},
  handle: async () => ({ status: 200, body: {} }),
});

const statusPage = async () => '<!doctype html>';

/** The paths of the public port, which a host does not have. */
const specified = ['/health', '/healthcheck', '/healthcheck/readiness'];

test('metrics count requests by pattern and class of status, and never by path', async (t) => {
  const { url, registry, readiness } = await startGateway(t, [hello]);
  const admin = createAdmin({ registry, readiness, names: [], statusPage });
  const adminUrl = `http://127.0.0.1:${await admin.listen('127.0.0.1', 0)}`;
  t.teardown(() => admin.close());
  for (const path of ['/v1/hello/private-a', '/v1/hello/private-b', '/v1/private-c'])
    await (await fetch(url + path)).text();

  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  t.regex(
    text,
    /^scriptorium_http_request_duration_seconds_count\{method="GET",route="\/v1\/hello\/:name",status="2xx"\} 2$/m,
  );
  t.regex(
    text,
    /^scriptorium_http_request_duration_seconds_bucket\{le="\+Inf",method="GET",route="\/v1\/hello\/:name",status="2xx"\} 2$/m,
  );
  t.regex(text, /^scriptorium_http_request_duration_seconds_count\{method="",route="",status="4xx"\} 1$/m);
  t.regex(text, /^scriptorium_http_requests_in_flight 0$/m);
  t.false(text.includes('private'));
});

test('the process is alive while it drains, but not ready', async (t) => {
  const { registry, readiness } = await startGateway(t, []);
  const admin = createAdmin({ registry, readiness, names: [], statusPage });
  const adminUrl = `http://127.0.0.1:${await admin.listen('127.0.0.1', 0)}`;
  t.teardown(() => admin.close());
  const status = async (path: string) => (await fetch(adminUrl + path)).status;
  t.deepEqual([await status('/livez'), await status('/readyz')], [200, 200]);
  t.deepEqual(await Promise.all(specified.map(status)), [200, 200, 200]);
  readiness.startDraining();
  t.deepEqual([await status('/livez'), await status('/readyz'), await status('/other')], [200, 503, 404]);
  t.deepEqual(await Promise.all(specified.map(status)), [200, 200, 503]);
});

test('the page of the admin port is HTML that may run and load nothing', async (t) => {
  const { registry, readiness } = await startGateway(t, []);
  const admin = createAdmin({ registry, readiness, names: [], statusPage });
  const port = await admin.listen('127.0.0.1', 0);
  t.teardown(() => admin.close());
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  t.is(await answer.text(), '<!doctype html>');
  t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  t.regex(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-/);
});

test('a taken admin port is an error', async (t) => {
  const { registry, readiness } = await startGateway(t, []);
  const first = createAdmin({ registry, readiness, names: [], statusPage });
  const port = await first.listen('127.0.0.1', 0);
  t.teardown(() => first.close());
  await t.throwsAsync(createAdmin({ registry, readiness, names: [], statusPage }).listen('127.0.0.1', port), {
    code: 'EADDRINUSE',
  });
});
