/** A database that can be read but not written: nearly every save fails, and the server reports it. */
import test from 'ava';
import { ModelDatabase } from '../../runtime/store/model.ts';
import { type Commit, StoreError } from '../../runtime/store/store.ts';
import { FakeClock } from '../kit/clock.ts';
import { startConfiguredServer } from '../kit/configured-server.ts';

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
  const write = async () => {
    // Whose nonce is asked for is noted.
    const response = await fetch(`${server.url}/v2/login-params`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org', api: '20200115', code_challenge: 'c'.repeat(43) }),
    });
    await response.arrayBuffer();
    return response.status;
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
