import test from 'ava';
import { databaseUrl, startTestPostgres, type TestPostgres } from '../test/kit/postgres.ts';
import { migrateDatabase, planMigration } from './migrate.ts';
import { migrations } from './schema.ts';
import { StartError, serverExitCodes } from './start-error.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const ids = migrations.map(({ id }) => id);

test('a plan is carried out once, and told step by step', async (t) => {
  const url = databaseUrl(await server.createDatabase());
  t.deepEqual(await planMigration(url), migrations);
  const applied: string[] = [];
  t.deepEqual(await migrateDatabase(url, (id) => applied.push(id)), ids);
  t.deepEqual(applied, ids);
  t.deepEqual(await planMigration(url), []);
  t.deepEqual(await migrateDatabase(url, (id) => applied.push(id)), []);
  t.is(applied.length, ids.length);
});

const commands = { plan: planMigration, apply: (url?: string) => migrateDatabase(url, () => undefined) };

for (const [name, command] of Object.entries(commands)) {
  test(`${name} without a database to reach says so`, async (t) => {
    const none = await t.throwsAsync(command(undefined), { instanceOf: StartError });
    t.is(none.exitCode, serverExitCodes.config);
    const away = await t.throwsAsync(command('postgresql://someone:secret@127.0.0.1:1/nowhere'), {
      instanceOf: StartError,
    });
    t.is(away.exitCode, serverExitCodes.unavailable);
    t.false(away.message.includes('secret'));
  });
}
