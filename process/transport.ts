/** The connection to other processes: NATS in a cluster, otherwise none. */
import type { Registry } from 'prom-client';
import { InProcessTransport } from '../runtime/transport/in-process.ts';
import type { NatsTransport } from '../runtime/transport/nats/nats-transport.ts';
import type { Transport } from '../runtime/transport/transport.ts';
import { needing } from './database.ts';
import type { Resources } from './resources.ts';
import type { ServerOptions } from './server-options.ts';

/** How long sending may still take at the end. */
const closeMs = 2_000;

export interface OpenedTransport {
  readonly transport: Transport;
  /** False if tells for other hosts must wait for a sweep. */
  isWakeStreamUp(): boolean;
}

/** Closes with the lifetime. @throws StartError */
export async function openTransport(
  options: Omit<ServerOptions, 'version'>,
  { generation, keyring, shardCount }: Pick<Resources, 'generation' | 'keyring' | 'shardCount'>,
  registry: Registry,
): Promise<OpenedTransport> {
  const { config, secrets, clock, random, logger, lifetime, tracer } = options;
  const { nats, clusterName } = config;
  if (nats === undefined) return { transport: new InProcessTransport(), isWakeStreamUp: () => true };
  // A process that is the whole server needs no client of NATS, which takes memory and time to load.
  const [{ openNatsTransport }, { prometheusTransportMetrics }] = await Promise.all([
    import('../runtime/transport/nats/nats-transport.ts'),
    import('../runtime/transport/nats/metrics.ts'),
  ]);
  let opened: NatsTransport | undefined;
  const metrics = prometheusTransportMetrics(registry, () => opened);
  const { replicas, isInsecureAllowed: _, ...access } = nats;
  const transport = await needing('NATS cannot be used', () =>
    openNatsTransport({
      access: { ...access, servers: secrets.natsUrls ?? [] },
      clusterName,
      databaseId: generation,
      incarnation: random.uuid(),
      shardCount,
      signingKey: keyring.derive('nats-seal'),
      clock,
      random,
      logger,
      metrics,
      tracer,
      wakeStream: { replicas },
    }),
  );
  opened = transport;
  lifetime.onEnd(() => transport.close(closeMs));
  return { transport, isWakeStreamUp: () => transport.isWakeStreamAvailable };
}
