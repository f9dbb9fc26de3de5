/**
 * What an idle sync and a save cost the server in bytes of memory, which become garbage: nearly the same on every machine. A
 * limit that is met is no reason to raise it; docs/performance.md tells where these bytes come from.
 *
 * The profiler of V8 samples allocations with their stacks. The client runs in this process too, so only stacks with a frame of the server count.
 */
import { type HeapProfiler, Session } from 'node:inspector';
import test from 'ava';
import { migrations } from '../../process/schema.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
import { note } from '../kit/items.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { startServer } from '../kit/server.ts';

let postgres: TestPostgres;
test.before(async () => {
  postgres = await startTestPostgres();
});
test.after.always(() => postgres?.stop());

const neverMs = 1e11;
/** V8 compiles what has run so often, and what is compiled allocates less. */
const warmups = 600;
const requests = 400;
const sampledBytes = 2_048;
const ofServer = /\/(gateway|actors|runtime)\/|\/node_modules\/pg/;

type Frame = HeapProfiler.SamplingHeapProfileNode;

const bytesOf = ({ callFrame, selfSize, children }: Frame, isServer = false): number => {
  const isInside = isServer || ofServer.test(callFrame.url);
  return children.reduce((sum, child) => sum + bytesOf(child, isInside), isInside ? selfSize : 0);
};

function post<Result>(session: Session, method: string, parameters: object = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error, result) => {
      if (error === null) resolve(result as Result);
      else reject(error);
    });
  });
}

async function allocated(request: () => Promise<unknown>): Promise<number> {
  for (let n = 0; n < warmups; n += 1) await request();
  const session = new Session();
  session.connect();
  try {
    await post(session, 'HeapProfiler.startSampling', {
      samplingInterval: sampledBytes,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    for (let n = 0; n < requests; n += 1) await request();
    const { profile } = await post<HeapProfiler.StopSamplingReturnType>(session, 'HeapProfiler.stopSampling');
    return Math.round(bytesOf(profile.head) / requests);
  } finally {
    session.disconnect();
  }
}

test('an idle sync and a save make no more garbage than they need', async (t) => {
  const connection = await postgres.createDatabase();
  await migrate(connection, migrations);
  const store = await openPostgresStore({ connection });
  t.teardown(() => store.close());
  const server = await startServer(t, {
    host: { store, limits: { sweepMs: neverMs, housekeepingMs: neverMs } },
  });
  const device = await server.device();
  const content = `004:${'c'.repeat(1_020)}`;
  const saved = () => device.sync({ items: [note({ uuid: crypto.randomUUID(), content })] });

  await saved();
  const ofIdleSync = await allocated(() => device.sync());
  const ofSave = await allocated(saved);
  t.log({ ofIdleSync, ofSave });
  t.true(ofIdleSync <= 19_000, `an idle sync: ${ofIdleSync} bytes`);
  t.true(ofSave <= 100_000, `a save of 1 KB: ${ofSave} bytes`);
});
