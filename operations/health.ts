/**
 * `grpc.health.v1.Health`, fed by readiness. The empty service and those of `scriptorium.v1` but `Import` serve while the process
 * is ready. Each check of readiness is a service of its own name.
 *
 * Watchers get the current state and then every change. The service finds changes by polling once per second while
 * anyone watches.
 */
import { type ServerWritableStream, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../proto/generated/grpc/health/v1/health.ts';
import type { Calls } from './calls.ts';
import { notFound, overloadedCallError } from './errors.ts';
import type { InternalApiOptions, ReadinessReport } from './internal-api-options.ts';

type Options = Pick<InternalApiOptions, 'readiness' | 'clock'>;
type WatchCall = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

const checkPauseMs = 1_000;
const watchersMax = 100;
const services = [
  '',
  ...['Cluster', 'Mail', 'Pairing', 'Registration', 'Sessions', 'Users'].map(
    (name) => `scriptorium.v1.${name}`,
  ),
];

export class Health {
  readonly #options: Options;
  /** Keyed by call: the state that was last sent to it. */
  readonly #watchers = new Map<WatchCall, ServingStatus | undefined>();
  #cancelCheck: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  implement(calls: Calls): UntypedServiceImplementation {
    const unary = calls.implement(HealthService, {
      check: async ({ service }) => {
        const found = statusesOf(await this.#options.readiness.report()).get(service);
        if (found === undefined) throw notFound('There is no such service; List returns their names.');
        return { status: found };
      },
      list: async () => {
        const statuses = statusesOf(await this.#options.readiness.report());
        const entries = [...statuses].map(([service, found]) => [service, { status: found }] as const);
        return { statuses: Object.fromEntries(entries) };
      },
    });
    return { ...unary, watch: (call: WatchCall) => this.#watch(call) };
  }

  /** Notifies every watcher that nothing is served any more. */
  close(): void {
    this.#cancelCheck?.();
    for (const call of this.#watchers.keys()) {
      call.write({ status: ServingStatus.NOT_SERVING });
      call.end();
    }
    this.#watchers.clear();
  }

  #watch(call: WatchCall): void {
    if (this.#watchers.size >= watchersMax) {
      call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: overloadedCallError.message });
      return;
    }
    this.#watchers.set(call, undefined);
    call.once('cancelled', () => this.#watchers.delete(call));
    void this.#check();
  }

  async #check(): Promise<void> {
    const statuses = statusesOf(await this.#options.readiness.report());
    for (const [call, sent] of this.#watchers) {
      const found = statuses.get(call.request.service) ?? ServingStatus.SERVICE_UNKNOWN;
      if (found === sent) continue;
      this.#watchers.set(call, found);
      call.write({ status: found });
    }
    this.#cancelCheck?.();
    if (this.#watchers.size === 0) return;
    this.#cancelCheck = this.#options.clock.schedule(checkPauseMs, () => void this.#check());
  }
}

function statusesOf({ ready, checks }: ReadinessReport): ReadonlyMap<string, ServingStatus> {
  const statusOf = (isServing: boolean) => (isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
  return new Map([
    ...Object.entries(checks).map(([check, result]) => [check, statusOf(result === 'ok')] as const),
    ...services.map((service) => [service, statusOf(ready)] as const),
  ]);
}
