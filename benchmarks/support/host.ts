/** One host in this process, over a separate database: the runtime without a gateway. */

import type { EmbeddedConnection } from '../../process/postgres/embedded.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Actors } from '../../runtime/handles.ts';
import { createActors } from '../../runtime/host/actors.ts';
import { Host } from '../../runtime/host/host.ts';
import { defaultLimits } from '../../runtime/host/limits.ts';
import { noMetrics, type RuntimeMetrics } from '../../runtime/host/runtime-metrics.ts';
import type { Kind } from '../../runtime/kind.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { systemRandom } from '../../runtime/random.ts';
import { openPostgresStore } from '../../runtime/store/postgres/store.ts';
import { InProcessTransport } from '../../runtime/transport/in-process.ts';

const drainMs = 5_000;

export interface LoadHost {
  readonly actors: Actors;
  stop(): Promise<void>;
}

export async function startHost(
  connection: EmbeddedConnection,
  kind: Kind,
  metrics: Partial<RuntimeMetrics>,
): Promise<LoadHost> {
  const store = await openPostgresStore({ connection });
  const incarnation = systemRandom.uuid();
  const ports = {
    store,
    transport: new InProcessTransport(),
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    metrics: { ...noMetrics, ...metrics },
    node: { id: 'bench', incarnation, address: '', roles: 'all', version: '0', formats: '1' },
  };
  const host = new Host({
    ...ports,
    kinds: [kind],
    limits: defaultLimits,
    shardCount: 64,
    leaseMs: 10_000,
    isPredecessorDead: true,
    onLeaseLost: () => process.exit(1),
  });
  await host.start();
  return {
    actors: createActors({ ...ports, defaultDeadlineMs: 20_000 }),
    async stop() {
      await host.drain(drainMs);
      await store.close();
    },
  };
}
