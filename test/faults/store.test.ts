/**
 * A host whose commits fail: every third statement of a commit meets a fault. A call that was reported as done is in
 * the database, once. A call that was reported as not done is not. Unknown outcomes are settled, so that no caller
 * has to live with one.
 */
import test, { type ExecutionContext } from 'ava';
import { sleep, systemClock } from '../../runtime/clock.ts';
import { provide } from '../../runtime/dependency.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import type { Actors } from '../../runtime/handles.ts';
import { createActors } from '../../runtime/host/actors.ts';
import { Host } from '../../runtime/host/host.ts';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { noMetrics } from '../../runtime/host/runtime-metrics.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { migrate } from '../../runtime/store/postgres/migrate.ts';
import { runtimeMigrations } from '../../runtime/store/postgres/migrations.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
import type { Store } from '../../runtime/store/store.ts';
import { InProcessTransport } from '../../runtime/transport/in-process.ts';
import { createTable } from '../kit/create-table.ts';
import { testNode } from '../kit/host.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { type Fault, PostgresProxy } from '../kit/postgres-proxy.ts';
import { SeededRandom } from '../kit/random.ts';
import { counterKind, type Reading, SlowWork, tally, title } from '../simulation/counter.ts';
import { describeFault, faultCases } from '../store/faults.ts';

const counters = ['ada', 'bob', 'cyd'];
const callers = 6;
const roundsEach = 6;
const struckEvery = 3;
const strikesMax = 12;
const statementTimeoutMs = 500;
const tellsArriveMaxMs = 20_000;

let server: TestPostgres;
test.before(async () => {
  server = await startTestPostgres();
});
test.after.always(() => server?.stop());

/** The answers to callers. */
class Told {
  readonly done: Call[] = [];
  readonly notDone: Call[] = [];
}

interface Call {
  readonly what: 'append' | 'bump' | 'transfer' | 'take' | 'yieldName';
  readonly op: string;
  readonly counter: string;
  readonly to: string;
}

async function startHost(store: Store, random: SeededRandom, onFenced: () => void) {
  const transport = new InProcessTransport();
  const ports = { store, transport, clock: systemClock, random, logger: silentLogger };
  const host = new Host({
    ...ports,
    kinds: [counterKind],
    provided: [provide(SlowWork, { began() {}, take: () => Promise.resolve() })],
    limits: { ...defaultLimits, sweepMs: 100 },
    metrics: { ...noMetrics, commit: (outcome) => void (outcome === 'fenced' && onFenced()) },
    node: testNode(random),
    shardCount: 16,
    leaseMs: 30_000,
    isPredecessorDead: true,
    onLeaseLost: () => undefined,
  });
  await host.start();
  const actors = createActors({ ...ports, defaultDeadlineMs: defaultLimits.defaultDeadlineMs });
  return { host, actors };
}

/** Every kind of commit: of slices, of rows, with a tell, and of a table that is put into and removed from. */
async function callAll(actors: Actors, caller: number, reported: Told): Promise<void> {
  for (let round = 0; round < roundsEach; round += 1) {
    for (const what of ['append', 'bump', 'transfer', 'take', 'yieldName'] as const) {
      const counter = counters[(caller + round) % counters.length] ?? '';
      const to = counters[(caller + round + 1) % counters.length] ?? '';
      const call = { what, counter, to, op: `${what}-${caller}-${round}` };
      try {
        await send(actors, call, `name-${caller}`);
        reported.done.push(call);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        reported.notDone.push(call);
      }
    }
  }
}

async function send(actors: Actors, { what, op, counter, to }: Call, name: string): Promise<unknown> {
  const { ask } = actors.get(counterKind, counter);
  if (what === 'append') return ask.append({ op });
  if (what === 'transfer') return ask.transfer({ op, to, amount: 1, trouble: { untilMs: 0 } });
  return ask[what]({ op, name });
}

async function readings(actors: Actors): Promise<Readonly<Record<string, Reading>>> {
  const read = counters.map(
    async (id) => [id, await actors.get(counterKind, id).ask.read({ after: 0 })] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}

async function untilTellsArrived(store: Store): Promise<void> {
  const untilMs = systemClock.monotonicMs() + tellsArriveMaxMs;
  while ((await store.backlog()).pendingTells > 0) {
    if (systemClock.monotonicMs() > untilMs) throw new Error('tells are left over');
    await sleep(systemClock, 20);
  }
}

/** How often each effect is in the database, by its name and place. */
function effectsIn(read: Readonly<Record<string, Reading>>): ReadonlyMap<string, number> {
  const effects = new Map<string, number>();
  for (const [counter, { journal, tallies }] of Object.entries(read)) {
    for (const effect of [...journal, ...tallies.flatMap(({ ops }) => ops.split(','))]) {
      const key = `${effect} at ${counter}`;
      effects.set(key, (effects.get(key) ?? 0) + 1);
    }
  }
  return effects;
}

function assertKept(t: ExecutionContext, reported: Told, read: Readonly<Record<string, Reading>>): void {
  const effects = effectsIn(read);
  const timesOf = ({ op, counter }: Call) => effects.get(`${op} at ${counter}`) ?? 0;
  const wrong = [
    // A name that another holds is an answer without an effect.
    ...reported.done.filter((call) => timesOf(call) !== 1 && !(call.what === 'take' && timesOf(call) === 0)),
    ...reported.notDone.filter((call) => timesOf(call) !== 0),
    ...reported.done.filter(
      ({ what, op, to }) => what === 'transfer' && effects.get(`credit:${op} at ${to}`) !== 1,
    ),
  ];
  t.deepEqual(wrong, []);
  t.is(
    Object.values(read).reduce((sum, { balance }) => sum + balance, 0),
    0,
  );
}

async function runStruck(t: ExecutionContext, fault: Fault): Promise<void> {
  const connection = await server.createDatabase();
  await migrate(connection, [...runtimeMigrations, ...createTable(tally), ...createTable(title)]);
  const proxy = await PostgresProxy.start(connection);
  const direct = await openPostgresStore({ connection });
  const proxied = await openPostgresStore({ connection: proxy.connection, statementTimeoutMs });
  t.teardown(async () => {
    await Promise.all([direct.close(), proxied.close()]);
    await proxy.stop();
  });
  const random = new SeededRandom(7);
  let fenced = 0;
  const first = await startHost(proxied, random, () => {
    fenced += 1;
  });
  let statements = 0;
  let strikes = 0;
  proxy.onStatement = ({ text }) => {
    if (!/^(BEGIN|COMMIT|WITH fence)/.test(text)) return undefined;
    statements += 1;
    if (strikes >= strikesMax || statements % struckEvery !== 0) return undefined;
    strikes += 1;
    return fault;
  };
  const reported = new Told();
  await Promise.all(Array.from({ length: callers }, (_, caller) => callAll(first.actors, caller, reported)));
  proxy.onStatement = () => undefined;
  await untilTellsArrived(direct);
  t.is(strikes, strikesMax);
  t.true(reported.done.length > reported.notDone.length);
  t.is(fenced, 0);
  first.host.abandon();

  const second = await startHost(direct, random, () => undefined);
  assertKept(t, reported, await readings(second.actors));
  second.host.abandon();
}

for (const { fault } of faultCases) {
  test.serial(`a host whose commits meet a ${describeFault(fault)} keeps what it acknowledged`, (t) =>
    runStruck(t, fault),
  );
}
