/** Another number of shards, by an operator: built programs, a real database, their messages. */
import test from 'ava';
import { serverExitCodes } from '../../../process/start-error.ts';
import { build, commandLine, dataDirectoryOf, launch, started } from '../../kit/built-server.ts';
import { databaseUrl, startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';

let database: TestPostgres;
test.before(build);
test.before(async () => {
  database = await startTestPostgres();
});
test.after.always(() => database?.stop());

const reshard = (url: string, shards: number) => commandLine(url, 'reshard', '--shards', `${shards}`);

test('a cluster is stopped, gets another number of shards, and starts with that alone', async (t) => {
  const url = databaseUrl(await database.createDatabase());
  const directory = dataDirectoryOf(t);
  const settings = (shards: number) => ({ DATABASE_URL: url, SHARD_COUNT: `${shards}` });
  const first = await started(t, { directory, settings: settings(16) });
  const early = await reshard(url, 64);
  t.is(early.code, 1);
  t.regex(early.err, /The node "main" has a lease .* Stop every node first/);
  first.child.kill('SIGTERM');
  t.is(await first.exitCode, 0);

  const done = await reshard(url, 64);
  t.is(done.code, 0, done.err);
  t.is(done.out, 'The database now has 64 shards (16 before). Start every node with SHARD_COUNT=64.\n');
  const former = launch(t, { directory, settings: settings(16) });
  t.is(await former.exitCode, serverExitCodes.config);
  t.regex(former.output(), /start with SHARD_COUNT=64/);
  const next = await started(t, { directory, settings: settings(64) });
  t.is((await fetch(`${next.url}/healthcheck/readiness`)).status, 200);
});
