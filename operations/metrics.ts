import { status } from '@grpc/grpc-js';
import { type Counter, Histogram, type Registry } from 'prom-client';
import { meterOf } from '../runtime/meter.ts';

const secondsBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

export class CallMetrics {
  readonly #requests: Counter<'method' | 'code'>;
  readonly #seconds: Histogram<'method'>;

  constructor(registry: Registry) {
    this.#requests = meterOf(registry).counter(
      'scriptorium_grpc_requests_total',
      'Calls of the internal API by method and code',
      ['method', 'code'],
    );
    this.#seconds = new Histogram({
      name: 'scriptorium_grpc_request_duration_seconds',
      help: 'Calls of the internal API by method, from the first byte of the request to the answer',
      labelNames: ['method'],
      buckets: secondsBuckets,
      registers: [registry],
    });
  }

  /** `method` is the contract's name, for example `scriptorium.v1.Cluster/ListNodes`. */
  answered(method: string, code: status, durationMs: number): void {
    this.#requests.inc({ method, code: status[code] });
    this.#seconds.observe({ method }, durationMs / 1_000);
  }
}
