import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { Cluster } from './cluster.ts';

test('a cluster whose NATS cannot start leaves no database behind, running or on the disk', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-start-'));
  const former = process.env['TMPDIR'];
  t.teardown(() => {
    if (former === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = former;
    rmSync(folder, { recursive: true, force: true });
  });
  process.env['TMPDIR'] = folder;
  const starting = Cluster.start({
    builds: { current: '', next: '' },
    leaseMs: 4_000,
    startNats: () => Promise.reject(new Error('NATS is not to be had')),
  });
  await t.throwsAsync(starting, { message: 'NATS is not to be had' });
  t.deepEqual(readdirSync(folder), []);
});
