import type { Registry } from 'prom-client';
import type { Credentials } from '../actors/identity/session-tokens.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Actors } from '../runtime/kind.ts';
import type { Logger } from '../runtime/ports.ts';
import type { Random } from '../runtime/random.ts';
import type { Store } from '../runtime/store/store.ts';
import type { Transport } from '../runtime/transport/transport.ts';

/** What the internal API is made of. Each service takes the few it uses. */
export interface InternalApiPorts {
  readonly store: Pick<
    Store,
    'nodes' | 'shards' | 'setDraining' | 'backlog' | 'deadTimers' | 'deadTells' | 'read'
  >;
  readonly actors: Actors;
  readonly transport: Pick<Transport, 'hint'>;
  readonly readiness: { report(): Promise<ReadinessReport> };
  /** From an `Authorization` and a `Cookie` header, as the gateway does it. */
  readonly verifyBearer: (authorization: string, cookieHeader: string) => Credentials | undefined;
  readonly shardCount: number;
  readonly workspacesPerEmail: boolean;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly logger: Logger;
  readonly registry: Registry;
  /** How long `close` waits for calls under way. */
  readonly drainTimeoutMs: number;
}

export interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}
