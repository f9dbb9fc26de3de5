/**
 * Somebody holds the rows of actors locked in a real database. Their neighbours are served as usual. Those actors
 * report that nothing took effect, and continue once the rows are free.
 */
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '../../runtime/clock.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { startDatabaseHost } from '../kit/database-host.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { counterKind } from '../simulation/counter.ts';

const neighbours = Array.from({ length: 24 }, (_, index) => `neighbour-${index}`);
const stuck = ['ada', 'bob'];
/** Shorter than a statement may otherwise wait for its locks. */
const neighbourWaitMaxMs = 4_000;

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

async function setUp(t: ExecutionContext) {
  const { actors, host, admin, random } = await startDatabaseHost(t, server);
  const append = (id: string, op: string) => actors.get(counterKind, id).ask.append({ op });
  const lock = async (ids: readonly string[]) => {
    await admin.query('BEGIN');
    await admin.query('SELECT id FROM actor WHERE id = ANY($1) FOR UPDATE', [ids]);
  };
  const evict = (ids: readonly string[]) =>
    Promise.all(
      ids.map((id) =>
        host.ask({
          address: { kind: counterKind.name, id },
          command: '$evict',
          request: null,
          callId: random.uuid(),
          deadlineMs: systemClock.monotonicMs() + defaultLimits.defaultDeadlineMs,
        }),
      ),
    );
  return { append, lock, evict, unlock: () => admin.query('ROLLBACK') };
}

test('two actors whose rows are locked keep no neighbour waiting', async (t) => {
  const { append, lock, unlock } = await setUp(t);
  await Promise.all([...stuck, ...neighbours].map((id) => append(id, 'first')));
  await lock(stuck);
  const outcomes = Promise.all(
    stuck.map((id) =>
      append(id, 'locked').then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  );
  const sentMs = systemClock.monotonicMs();
  for (const op of ['second', 'third']) await Promise.all(neighbours.map((id) => append(id, op)));
  t.true(systemClock.monotonicMs() - sentMs < neighbourWaitMaxMs);

  for (const error of await outcomes) t.true(error instanceof UnavailableError, `${error}`);
  await unlock();
  t.deepEqual(await Promise.all(stuck.map((id) => append(id, 'free'))), [2, 2]);
});

test('actors whose rows are locked while they are brought into memory keep no neighbour waiting', async (t) => {
  const { append, lock, evict, unlock } = await setUp(t);
  const locked = Array.from({ length: defaultLimits.activationsMax }, (_, index) => `locked-${index}`);
  await Promise.all([...locked, ...neighbours].map((id) => append(id, 'first')));
  await evict([...locked, ...neighbours]);
  await lock(locked);
  const outcomes = Promise.all(locked.map((id) => append(id, 'locked')));
  const sentMs = systemClock.monotonicMs();
  t.deepEqual(new Set(await Promise.all(neighbours.map((id) => append(id, 'second')))), new Set([2]));
  t.true(systemClock.monotonicMs() - sentMs < neighbourWaitMaxMs);
  await unlock();
  t.deepEqual(new Set(await outcomes), new Set([2]));
});
