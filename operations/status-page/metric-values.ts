/** Single figures from the metrics of this process, for people who have no Prometheus. */
import type { Registry } from 'prom-client';

export interface MetricValues {
  /** The sum over all labels; undefined if this process has no such metric. */
  sum(name: string): number | undefined;
  /** The upper bound of the quantile's bucket, over all values since the start. Undefined before the first value. */
  quantile(name: string, fraction: number): number | undefined;
}

interface Sample {
  readonly value: number;
  /** `le` is the upper bound of a bucket. */
  readonly labels: { readonly le?: string | number };
  /** Histograms alone. */
  readonly metricName?: string;
}

export async function metricValuesOf(registry: Registry): Promise<MetricValues> {
  const metrics = (await registry.getMetricsAsJSON()) as readonly {
    name: string;
    values: readonly Sample[];
  }[];
  const samplesOf = new Map(metrics.map(({ name, values }) => [name, values]));
  return {
    sum(name) {
      const samples = samplesOf.get(name);
      return samples?.reduce((sum, { value }) => sum + value, 0);
    },
    quantile: (name, fraction) => quantileOf(samplesOf.get(name) ?? [], name, fraction),
  };
}

function quantileOf(samples: readonly Sample[], name: string, fraction: number): number | undefined {
  const counts = new Map<number, number>();
  for (const { metricName, labels, value } of samples) {
    if (metricName !== `${name}_bucket`) continue;
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  const total = counts.get(Number.POSITIVE_INFINITY) ?? 0;
  if (total === 0) return undefined;
  const bounds = [...counts.keys()].toSorted((one, other) => one - other);
  return bounds.find((bound) => (counts.get(bound) ?? 0) >= total * fraction);
}
