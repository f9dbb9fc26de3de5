/**
 * Every statement of every method of the store meets everything that can happen to a statement: errors, broken connections and
 * silence. Each comes before the statement runs and after. The caller gets the error that docs/architecture.md, "Commit and fence"
 * promises. Nothing is half done, the pool serves on, and asking again succeeds as promised.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextTick } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { createTable } from '../../../test/kit/create-table.ts';
import { type DatabaseConnection, startTestPostgres, type TestPostgres } from '../../../test/kit/postgres.ts';
import { PostgresProxy } from '../../../test/kit/postgres-proxy.ts';
import { assertFails } from '../../../test/store/actors.ts';
import { type Arrange, type Call, calls } from '../../../test/store/fault-calls.ts';
import { describeFault, type FaultCase, faultCases } from '../../../test/store/faults.ts';
import { contractTables } from '../../../test/store/tables.ts';
import { StoreError } from '../store.ts';
import { migrate } from './migrate.ts';
import { runtimeMigrations } from './migrations.ts';
import { openPostgresStore, PostgresStore } from './store.ts';

/** The driver gives up on a silent server after twice this. */
const statementTimeoutMs = 1_000;
const pollsMax = 10_000;
/** Calls at a time: more would be slower than the time-out on a small machine. */
const atOnce = 16;

let server: TestPostgres;
let template: DatabaseConnection;
test.before(async () => {
  server = await startTestPostgres();
  template = await server.createDatabase();
  await migrate(template, [...runtimeMigrations, ...contractTables.flatMap(createTable)]);
});
test.after.always(() => server?.stop());

let copies = 0;
async function copyDatabase(): Promise<DatabaseConnection> {
  copies += 1;
  const database = `copy_${copies}`;
  const admin = new pg.Client({ ...template, database: 'postgres' });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${database} TEMPLATE ${template.database}`);
  await admin.end();
  return { ...template, database };
}

class Bench {
  readonly #arrange: Arrange;
  readonly #direct: PostgresStore;
  readonly #proxy: PostgresProxy;
  readonly #proxied: PostgresStore;
  #number = 0;

  static async open(t: ExecutionContext, arrange: Arrange): Promise<Bench> {
    const connection = await copyDatabase();
    const proxy = await PostgresProxy.start(connection);
    t.teardown(() => proxy.stop());
    const sizes = { commits: 1, reads: 1, ownership: 1, leases: 1 };
    const direct = await openPostgresStore({ connection, sizes });
    t.teardown(() => direct.close());
    const proxied = await openPostgresStore({ connection: proxy.connection, sizes, statementTimeoutMs });
    t.teardown(() => proxied.close());
    return new Bench(arrange, direct, proxy, proxied);
  }

  private constructor(arrange: Arrange, direct: PostgresStore, proxy: PostgresProxy, proxied: PostgresStore) {
    this.#arrange = arrange;
    this.#direct = direct;
    this.#proxy = proxy;
    this.#proxied = proxied;
  }

  /** Without a fault: what it sends, what it answers, and what others see before and after. */
  async inPeace() {
    const call = await this.#nextCall();
    const before = await this.#stateOf(call);
    const texts: string[] = [];
    this.#proxy.onStatement = ({ text }) => void texts.push(text);
    const answer = answerOf(call, await call.run(this.#proxied));
    this.#proxy.onStatement = () => undefined;
    return { texts, answer, before, after: await this.#stateOf(call) };
  }

  /** With the fault at that statement. */
  async struck({ fault, failure }: FaultCase, at: number, peace: Awaited<ReturnType<Bench['inPeace']>>) {
    const call = await this.#nextCall();
    // What is struck is a statement, not the start of a connection.
    await this.#proxied.verify();
    let statements = 0;
    this.#proxy.onStatement = () => (statements++ === at ? fault : undefined);
    const outcome = await call.run(this.#proxied).then(
      (result) => ({ answer: answerOf(call, result) }),
      (error: unknown) => ({ error }),
    );
    this.#proxy.onStatement = () => undefined;
    assert.ok(statements > at, 'the statement was not sent');
    await this.#untilNoTransaction();

    if ('answer' in outcome) {
      // What is rolled back is decided already, and a lease is renewed over another connection meanwhile.
      const wasAskedAgain = statements > peace.texts.length;
      assert.ok(wasAskedAgain || peace.texts[at] === 'ROLLBACK', `answered by ${peace.texts[at]}`);
      assert.deepEqual(outcome.answer, peace.answer);
    } else {
      assert.ok(outcome.error instanceof StoreError, `not a StoreError: ${outcome.error}`);
      assert.equal(outcome.error.failure, failure);
    }
    const seen = await this.#stateOf(call);
    if (failure !== 'unknown') assert.deepEqual(seen, peace.before, 'something was applied');
    else
      assert.ok(
        [peace.before, peace.after].some((state) => same(state, seen)),
        'it is half done',
      );

    const settled = await (call.settle ?? call.run)(this.#proxied);
    assert.deepEqual(answerOf(call, settled), peace.answer);
    assert.deepEqual(await this.#stateOf(call), peace.after);
  }

  /** A connection that is given up is closed a moment later. */
  async #untilNoTransaction(): Promise<void> {
    for (let poll = 0; poll < pollsMax && this.#proxy.openTransactions > 0; poll += 1) await nextTick();
    assert.equal(this.#proxy.openTransactions, 0, 'a transaction is left open');
  }

  #nextCall(): Promise<Call> {
    this.#number += 1;
    return this.#arrange(this.#direct, this.#number);
  }

  async #stateOf(call: Call): Promise<unknown> {
    return call.state?.(this.#direct);
  }
}

function answerOf({ answer }: Call, result: unknown): unknown {
  return answer === undefined ? result : answer(result as never);
}

function same(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}

let running = 0;
const waiting: (() => void)[] = [];
async function inTurn(work: () => Promise<void>): Promise<void> {
  if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

test('a connection that cannot be made ready is unavailable, and the next one is tried', async (t) => {
  const connection = await copyDatabase();
  const proxy = await PostgresProxy.start(connection);
  t.teardown(() => proxy.stop());
  const texts: string[] = [];
  proxy.onStatement = ({ text }) => void texts.push(text);
  await (await openPostgresStore({ connection: proxy.connection })).close();
  const settings = texts.slice(0, texts.indexOf('SHOW transaction_isolation'));
  t.true(settings.length >= 2);
  for (const setting of new Set(settings)) {
    for (const { fault } of faultCases) {
      const store = new PostgresStore({ connection: proxy.connection, statementTimeoutMs });
      proxy.onStatement = ({ text }) => (text === setting ? fault : undefined);
      await assertFails(store.timeMs(), 'unavailable');
      proxy.onStatement = () => undefined;
      await t.notThrowsAsync(store.timeMs(), `${describeFault(fault)} at ${setting}`);
      await store.close();
    }
  }
});

for (const [method, variants] of Object.entries(calls)) {
  for (const [variant, arrange] of Object.entries(variants)) {
    test(`${method} ${variant} keeps its promise, whatever happens to whichever of its statements`, (t) =>
      inTurn(async () => {
        const bench = await Bench.open(t, arrange);
        const peace = await bench.inPeace();
        t.true(peace.texts.length > 0);
        for (const [at, text] of peace.texts.entries()) {
          for (const one of faultCases) {
            await t.notThrowsAsync(
              bench.struck(one, at, peace),
              `${describeFault(one.fault)} at statement ${at}: ${text}`,
            );
          }
        }
      }));
  }
}
