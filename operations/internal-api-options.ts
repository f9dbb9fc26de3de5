import type { Registry } from 'prom-client';
import type { FileStore } from '../actors/files/store.ts';
import type { Credentials } from '../actors/identity/session-tokens.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Lookups } from '../runtime/command.ts';
import type { Actors } from '../runtime/handles.ts';
import type { ClusterOperations } from '../runtime/operations.ts';
import type { Logger } from '../runtime/ports.ts';
import type { Random } from '../runtime/random.ts';

/** The dependencies of the internal API. Each service takes the few that it uses. */
export interface InternalApiOptions {
  readonly cluster: ClusterOperations;
  readonly lookups: Lookups;
  readonly actors: Actors;
  readonly readiness: { report(): Promise<ReadinessReport> };
  /** From an `Authorization` and a `Cookie` header, as in the gateway. */
  readonly verifyBearer: (authorization: string, cookieHeader: string) => Credentials | undefined;
  readonly shardCount: number;
  readonly workspacesPerEmail: boolean;
  readonly registrationDisabled: boolean;
  readonly fileStore: Pick<FileStore, 'write' | 'persist' | 'read'>;
  /** The limits of an import, from the settings. */
  readonly importing: {
    readonly contentBytesMax: number;
    readonly fileBytesMax: number;
    readonly relyingPartyId: string;
  };
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly logger: Logger;
  readonly registry: Registry;
  /** How long `close` waits for calls in flight. */
  readonly drainTimeoutMs: number;
}

export interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}
