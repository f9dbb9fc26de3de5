/** Metrics in Prometheus form. Labels are kinds, reasons and outcomes, never ids. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export const meterOf = (registry: Registry) => {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Counter<Label>({ name, help, labelNames, registers }),
    /** For hot paths, where finding a counter by its labels costs too much: on collection `report` adds what was counted elsewhere. */
    collectedCounter: <Label extends string>(
      name: string,
      help: string,
      labelNames: readonly Label[],
      report: (counter: Counter<Label>) => void,
    ) =>
      new Counter<Label>({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          report(this);
        },
      }),
    histogram: (name: string, help: string, buckets: readonly number[]) =>
      new Histogram({ name, help, buckets: [...buckets], registers }),
    /** Read whenever metrics are collected. Undefined means that there is no value now. */
    gauge: (name: string, help: string, read: () => number | undefined) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          const value = read();
          if (value === undefined) this.remove();
          else this.set(value);
        },
      }),
  };
};
