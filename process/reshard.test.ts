import test from 'ava';
import { resharding, shardCountSetting } from '../runtime/store/postgres/reshard.ts';
import { openPostgresStore } from '../runtime/store/postgres/store.ts';
import { databaseUrl, startTestPostgres, type TestPostgres } from '../test/kit/postgres.ts';
import { reshardDatabase } from './reshard.ts';
import { StartError, serverExitCodes } from './start-error.ts';

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

const node = { id: 'a', incarnation: 'a1', address: '', roles: 'all', version: '0', formats: '1' };
const onProgress = () => undefined;

test('its result is reported, and so is what prevents it, each with its own code', async (t) => {
  const connection = await server.createDatabase();
  const url = databaseUrl(connection);
  const refused = async (shardCount: number, exitCode: number, message: RegExp) => {
    const error = await t.throwsAsync(reshardDatabase({ databaseUrl: url, shardCount, onProgress }), {
      instanceOf: StartError,
    });
    t.is(error.exitCode, exitCode);
    t.regex(error.message, message);
  };

  await refused(64, serverExitCodes.config, /No node has ever served this database/);
  const store = await openPostgresStore({ connection });
  t.teardown(() => store.close());
  await store.fixedSetting(shardCountSetting, '16');
  await store.register(node, 60_000, true);
  await refused(64, serverExitCodes.inUse, /The node "a" has a lease/);
  await store.leave('a', 'a1');
  await store.replaceSetting(resharding.setting, '32');
  await refused(64, serverExitCodes.config, /--shards 32/);
  const done = { outcome: 'done', from: 16, rows: 0 };
  t.deepEqual(await reshardDatabase({ databaseUrl: url, shardCount: 32, onProgress }), done as never);
  t.deepEqual(await reshardDatabase({ databaseUrl: url, shardCount: 32, onProgress }), {
    outcome: 'unchanged',
  });
});

test('without a database to reach it says so', async (t) => {
  const none = await t.throwsAsync(reshardDatabase({ databaseUrl: undefined, shardCount: 64, onProgress }), {
    instanceOf: StartError,
  });
  t.is(none.exitCode, serverExitCodes.config);
  const nowhere = 'postgresql://someone:secret@127.0.0.1:1/nowhere';
  const away = await t.throwsAsync(reshardDatabase({ databaseUrl: nowhere, shardCount: 64, onProgress }), {
    instanceOf: StartError,
  });
  t.is(away.exitCode, serverExitCodes.unavailable);
  t.false(away.message.includes('secret'));
});
