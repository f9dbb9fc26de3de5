/** Between PostgreSQL and CockroachDB, in both directions. */
import { join } from 'node:path';
import test from 'ava';
import { findCockroach, startTestCockroach } from '../kit/cockroach.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { backUpTo, connected, contentOf, make, restoreFrom } from './world.ts';

const binary = findCockroach(process.env);

if (binary === undefined) {
  test.skip('cockroach: backups, because COCKROACH_PATH names no binary and none is on the PATH', () =>
    undefined);
} else {
  let servers: { readonly postgres: TestPostgres; readonly cockroach: TestPostgres };
  test.before(async () => {
    servers = { postgres: await startTestPostgres(), cockroach: await startTestCockroach(binary) };
  });
  test.after.always(async () => {
    await servers?.postgres.stop();
    await servers?.cockroach.stop();
  });

  for (const [from, to] of [
    ['postgres', 'cockroach'],
    ['cockroach', 'postgres'],
    ['cockroach', 'cockroach'],
  ] as const) {
    test.serial(`cockroach: a backup of ${from} comes back on ${to}`, async (t) => {
      const made = await make(t, servers[from]);
      await connected(made.connection, (client) => made.files.add(client, 'a'));
      // A snapshot of CockroachDB is a second old, and the row of the file came last.
      while ((await backUpTo(made)).manifest.blobs.count < 2);
      const connection = await servers[to].createDatabase();
      await restoreFrom(made.target, connection, join(temporaryFolder(t), 'files'));
      t.deepEqual(await contentOf(connection), await contentOf(made.connection));
    });
  }
}
