/** A host over the model store, with a clock that tests move and randomness from a seed. */
import type { Provided } from '../../runtime/dependency.ts';
import type { Actors } from '../../runtime/handles.ts';
import { createActors } from '../../runtime/host/actors.ts';
import { Host } from '../../runtime/host/host.ts';
import { defaultLimits, type Limits } from '../../runtime/host/limits.ts';
import { noMetrics, type RuntimeMetrics } from '../../runtime/host/runtime-metrics.ts';
import type { Kind } from '../../runtime/kind.ts';
import { type Logger, silentLogger } from '../../runtime/ports.ts';
import type { Random } from '../../runtime/random.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { Tracer } from '../../runtime/tracing.ts';
import { InProcessTransport } from '../../runtime/transport/in-process.ts';
import type { Transport } from '../../runtime/transport/transport.ts';
import { FakeClock } from './clock.ts';
import { ModelDatabase, ModelStore, type Schedule } from './model-store/model-store.ts';
import { SeededRandom } from './random.ts';

export const testShardCount = 16;

export interface TestHostOptions {
  readonly kinds: readonly Kind[];
  readonly provided?: readonly Provided[];
  readonly clock?: FakeClock;
  readonly random?: Random;
  readonly database?: ModelDatabase;
  readonly store?: Store;
  /** What may happen to a call of the model store before and after its effect. */
  readonly schedule?: Schedule;
  readonly leaseMs?: number;
  readonly limits?: Partial<Limits>;
  readonly metrics?: RuntimeMetrics;
  /** None when absent. */
  readonly logger?: Logger;
  /** True unless a test starts a second process beside a living one. */
  readonly isPredecessorDead?: boolean;
  readonly transport?: Transport;
  readonly tracer?: Tracer;
}

export interface TestHost {
  readonly actors: Actors;
  readonly host: Host;
  readonly clock: FakeClock;
  readonly random: Random;
  readonly database: ModelDatabase;
  readonly store: Store;
  readonly transport: Transport;
  /** Ends this host like a crash and starts another on the same database, as the same node. */
  restart(changes?: Partial<Pick<TestHostOptions, 'kinds' | 'provided'>>): Promise<TestHost>;
}

export async function startTestHost(options: TestHostOptions): Promise<TestHost> {
  const clock = options.clock ?? new FakeClock();
  const random = options.random ?? new SeededRandom(1);
  const database = options.database ?? new ModelDatabase(clock);
  const store = options.store ?? new ModelStore(database, options.schedule);
  const limits = { ...defaultLimits, ...options.limits };
  const transport = options.transport ?? new InProcessTransport();
  const host = new Host({
    kinds: options.kinds,
    provided: options.provided ?? [],
    store,
    transport,
    clock,
    random,
    limits,
    metrics: options.metrics ?? noMetrics,
    logger: options.logger ?? silentLogger,
    node: testNode(random),
    shardCount: testShardCount,
    leaseMs: options.leaseMs ?? 10_000,
    isPredecessorDead: options.isPredecessorDead ?? true,
    onLeaseLost: () => {},
    tracer: options.tracer,
  });
  await host.start();
  const actors = createActors({ transport, clock, random, defaultDeadlineMs: limits.defaultDeadlineMs });
  return {
    actors,
    host,
    clock,
    random,
    database,
    store,
    transport,
    restart(changes = {}) {
      host.abandon();
      return startTestHost({ ...options, clock, random, database, store, transport, ...changes });
    },
  };
}

export function testNode(random: Random, id = 'test') {
  return { id, incarnation: random.uuid(), address: '', roles: 'all', version: '0', formats: '1' };
}
