/**
 * Counts the requests of each route by class of status, and how long they took.
 *
 * An observation costs a few array writes: the counts are in one flat array and become a Prometheus histogram only
 * when they are read. `scriptorium_http_request_duration_seconds_count` is the request counter. Routes are named by
 * their pattern, and all requests without a route count as one, so the number of series is fixed.
 */
import type { Metric, Registry } from 'prom-client';
import type { AnyRoute } from './route.ts';

/** The index of requests that matched no route. */
export const unmatchedRoute = -1;

const bucketsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];
const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'];
/** One count per bucket, one for everything beyond the last, and the sum of milliseconds. */
const cells = bucketsMs.length + 2;
const name = 'scriptorium_http_request_duration_seconds';
const help =
  'Requests by route and class of status, from the first byte of the head to the last of the reply.';

export class RouteMetrics {
  readonly #routes: readonly AnyRoute[];
  readonly #counts: Float64Array;
  /** Requests whose client left before the reply. */
  aborted = 0;
  /** Replies that the server broke off. */
  cut = 0;

  constructor(routes: readonly AnyRoute[]) {
    this.#routes = routes;
    this.#counts = new Float64Array((routes.length + 1) * statusClasses.length * cells);
  }

  observe(routeIndex: number, status: number, durationMs: number): void {
    const series = (routeIndex + 1) * statusClasses.length + Math.floor(status / 100) - 1;
    let bucket = 0;
    while (bucket < bucketsMs.length && durationMs > (bucketsMs[bucket] ?? 0)) bucket += 1;
    const first = series * cells;
    this.#counts[first + bucket] = (this.#counts[first + bucket] ?? 0) + 1;
    this.#counts[first + cells - 1] = (this.#counts[first + cells - 1] ?? 0) + durationMs;
  }

  register(registry: Registry): void {
    const get = () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values() });
    const metric = {
      name,
      help,
      labelNames: ['method', 'route', 'status'],
      type: 'histogram',
      aggregator: 'sum',
      get,
      reset: () => this.#counts.fill(0),
    };
    registry.registerMetric(metric as unknown as Metric);
  }

  #values(): { metricName: string; value: number; labels: Record<string, string> }[] {
    const values = [];
    for (let routeIndex = unmatchedRoute; routeIndex < this.#routes.length; routeIndex++) {
      const route = this.#routes[routeIndex];
      for (const [index, status] of statusClasses.entries()) {
        const first = ((routeIndex + 1) * statusClasses.length + index) * cells;
        const series = this.#counts.subarray(first, first + cells);
        if (series.every((cell) => cell === 0)) continue;
        values.push(...histogram(series, { method: route?.method ?? '', route: route?.path ?? '', status }));
      }
    }
    return values;
  }
}

function histogram(series: Float64Array, labels: Record<string, string>) {
  const values = [];
  let count = 0;
  for (const [bucket, upperMs] of [...bucketsMs, Number.POSITIVE_INFINITY].entries()) {
    count += series[bucket] ?? 0;
    const le = upperMs === Number.POSITIVE_INFINITY ? '+Inf' : String(upperMs / 1_000);
    values.push({ metricName: `${name}_bucket`, value: count, labels: { le, ...labels } });
  }
  const sumMs = series[cells - 1] ?? 0;
  values.push({ metricName: `${name}_sum`, value: sumMs / 1_000, labels });
  values.push({ metricName: `${name}_count`, value: count, labels });
  return values;
}
