/** A database that can be read but not written: nearly every save fails, and the server reports it. */
import test from 'ava';
import { type Commit, StoreError } from '../../runtime/store/store.ts';
import { FakeClock } from '../kit/clock.ts';
import { startConfiguredServer } from '../kit/configured-server.ts';
import { Device } from '../kit/device.ts';
import { ModelDatabase } from '../kit/model-store/model-store.ts';

class FullDatabase extends ModelDatabase {
  isFull = false;

  override commit(commits: readonly Commit[]): ReadonlySet<number> {
    if (this.isFull) throw new StoreError('unavailable', '53100 could not extend file');
    return super.commit(commits);
  }
}

test('a full database is reported as degraded writes until a commit succeeds, and the node stays ready', async (t) => {
  const clock = new FakeClock();
  const database = new FullDatabase(clock);
  const server = await startConfiguredServer(t, {}, clock, database);
  const phone = await Device.register(server);
  const path = `/v1/users/${phone.account.userUuid}/settings`;
  const write = async () => {
    const body = { name: 'CONFLICT_RESOLUTION_STRATEGY', value: 'ask' };
    return (await phone.call('PUT', path, { body })).status;
  };
  const writes = async () => {
    await server.advance(1_000);
    const response = await fetch(`${server.url}/healthcheck/readiness`);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return [response.status, checks['writes']];
  };
  t.is(await write(), 200);
  t.deepEqual(await writes(), [200, 'ok']);
  database.isFull = true;
  t.is(await write(), 503);
  t.deepEqual(await writes(), [200, 'degraded']);
  await server.advance(60_000);
  t.deepEqual(await writes(), [200, 'degraded']);
  database.isFull = false;
  t.is(await write(), 200);
  t.deepEqual(await writes(), [200, 'ok']);
});
