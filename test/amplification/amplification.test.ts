/** How much the worst request of each route multiplies what was sent and stored (docs/amplification.md). */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { amplificationDocument } from '../../tools/amplification-document.ts';
import type { Device } from '../kit/device.ts';
import { timesMax } from './bounds.ts';
import { type Meter, requestBytes, settle, startMeter } from './meter.ts';
import { modestRoutes } from './modest-routes.ts';
import { type PreparedCall, signedIn, worstRequests } from './worst-requests.ts';

interface Operation {
  readonly route: string;
  /** Names of the fields that it takes. */
  readonly fields: readonly string[];
}

/** Every route of the gateway, as its description lists them. */
async function operations({ server }: Meter): Promise<readonly Operation[]> {
  const { body } = await server.call('GET', '/v1/openapi.json');
  // biome-ignore lint/suspicious/noExplicitAny: a JSON document
  return Object.entries<any>(body.paths).flatMap(([path, methods]) => {
    const { 'x-additionalOperations': more = {}, ...usual } = methods;
    // biome-ignore lint/suspicious/noExplicitAny: a JSON document
    return Object.entries<any>({ ...usual, ...more }).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      fields: Object.keys(operation.requestBody?.content?.['application/json']?.schema?.properties ?? {}),
    }));
  });
}

test('every route has its worst request, or is known to answer and write little', async (t) => {
  const declared = (await operations(await startMeter(t))).map(({ route }) => route);
  const judged = [...worstRequests.map(({ route }) => route), ...modestRoutes];
  t.deepEqual(
    declared.filter((route) => !judged.includes(route)),
    [],
    'not judged: add the worst request to worst-requests.ts, or the route to modest-routes.ts if its answers and writes stay small',
  );
  t.deepEqual(
    judged.filter((route) => !declared.includes(route)),
    [],
    'not served any more',
  );
  t.is(new Set(modestRoutes).size, modestRoutes.length);
});

for (const [at, { route, worst, answer, writes, prepare }] of worstRequests.entries()) {
  test(`${route}: ${worst}`, async (t) => {
    const meter = await startMeter(t);
    const device = await meter.server.device(`somebody-${at}@example.org`);
    await settle(meter);
    const beforeBytes = meter.storedBytes();
    const call = await prepare(device, meter.server);
    await settle(meter);
    const basisBytes = requestBytes(call) + meter.storedBytes() - beforeBytes;
    const { status, bytes, writtenBytes } = await measured(meter, call);
    t.log(`${basisBytes} bytes sent and stored, ${bytes} answered, ${writtenBytes} written`);
    t.true(status < 300, `${status}`);
    t.true(bytes <= timesMax * basisBytes + (answer?.bytes ?? 0), `${bytes} answered`);
    t.true(writtenBytes <= timesMax * basisBytes + (writes?.bytes ?? 0), `${writtenBytes} written`);
  });
}

async function measured(meter: Meter, call: PreparedCall) {
  const before = meter.writtenBytes();
  const answer = await meter.ask(call);
  await settle(meter);
  return { ...answer, writtenBytes: meter.writtenBytes() - before };
}

/** Without a body, and with the largest body of most routes. */
function modestRequests({ route, fields }: Operation, device: Device): readonly PreparedCall[] {
  const [method = '', template = ''] = route.split(' ');
  const path = template
    .replace(':userUuid', device.account.userUuid)
    .replaceAll(/:\w+/g, () => crypto.randomUUID());
  const text = '"'.repeat(Math.floor(24_000 / (fields.length + 1)));
  const body = Object.fromEntries([...fields, 'more'].map((name) => [name, text]));
  const takesBody = !['GET', 'OPTIONS', 'HEAD'].includes(method);
  return [signedIn(device, method, path), ...(takesBody ? [signedIn(device, method, path, { body })] : [])];
}

test('answers and writes of other routes do not grow with the data stored', async (t) => {
  const meter = await startMeter(t);
  const all = await operations(meter);
  let device = await meter.server.device('somebody@example.org');
  let accounts = 0;
  for (const operation of all.filter(({ route }) => modestRoutes.includes(route))) {
    for (const call of modestRequests(operation, device)) {
      const { bytes, writtenBytes } = await measured(meter, call);
      const basisBytes = requestBytes(call);
      t.true(bytes <= timesMax * basisBytes, `${operation.route}: ${bytes} answered`);
      t.true(writtenBytes <= timesMax * basisBytes, `${operation.route}: ${writtenBytes} written`);
    }
    // Some of them end the session, or the account.
    if ((await device.call('GET', '/v1/sessions')).status !== 200) {
      accounts += 1;
      device = await meter.server.device(`another-${accounts}@example.org`);
    }
  }
});

test('the document lists what is tested here', (t) => {
  const written = readFileSync(new URL('../../docs/amplification.md', import.meta.url), 'utf8');
  t.is(written, amplificationDocument(), 'npm run docs writes it');
});
