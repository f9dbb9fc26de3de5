/**
 * A web page whose name leads to loopback after it was loaded (DNS rebinding) may not read the answers of the admin
 * port.
 */
import { get, type IncomingMessage } from 'node:http';
import test from 'ava';
import { createAdmin } from '../../operations/admin.ts';
import { startGateway } from '../kit/gateway.ts';

const asking = (port: number, host: string, path = '/metrics'): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response);
    });
    request.once('error', reject);
  });

test('the admin port answers to its own names and to addresses, and to no other name', async (t) => {
  const { registry, readiness } = await startGateway(t, []);
  const statusPage = async () => '';
  const admin = createAdmin({ registry, readiness, names: ['Metrics.internal'], statusPage });
  const port = await admin.listen('127.0.0.1', 0);
  t.teardown(() => admin.close());
  const own = ['localhost', 'LOCALHOST:9090', '127.0.0.1', '10.1.2.3:80', '[::1]', '[fd00::1]:9090'];
  for (const host of [...own, 'metrics.internal', `metrics.internal:${port}`]) {
    const { statusCode, headers } = await asking(port, host);
    t.is(statusCode, 200, host);
    t.deepEqual([headers['server'], headers['x-powered-by']], [undefined, undefined]);
  }
  for (const host of [
    'rebound.test',
    `rebound.test:${port}`,
    'localhost.rebound.test',
    '127.0.0.1.rebound.test',
  ]) {
    for (const path of ['/', '/metrics', '/readyz', '/livez'])
      t.is((await asking(port, host, path)).statusCode, 421, `${host}${path}`);
  }
});
