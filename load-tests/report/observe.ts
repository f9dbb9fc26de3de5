/** Turns two scrapes of all nodes' metrics into the observations of a run. */
import type { Exposition } from './exposition.ts';
import { counted, type Observed, type ObservedMetric, observed } from './observed.ts';

/** By node. */
export interface Scrape {
  readonly atMs: number;
  readonly nodes: ReadonlyMap<string, Exposition>;
  /** Nodes without metrics, and the status of their answer; 0 means no answer. */
  readonly unread: readonly { readonly url: string; readonly status: number }[];
}

export interface Observation {
  readonly name: string;
  readonly value: number;
}

/** Values that depend on an earlier scrape are missing in the first one. */
export function seenIn(scrape: Scrape, before: Scrape | undefined): readonly Observation[] {
  return observed.flatMap((of) => {
    const value = seenOf(of, scrape, before);
    return value === undefined ? [] : [{ name: of.name, value: value * of.times }];
  });
}

/** The growth of counters. A counter that is smaller than before started anew after a restart. */
export const grownIn = (scrape: Scrape, before: Scrape): readonly Observation[] =>
  counted.map(({ name, source }: ObservedMetric) => ({ name, value: growth(source, scrape, before) }));

function seenOf({ how, source }: Observed, scrape: Scrape, before: Scrape | undefined): number | undefined {
  if (how === 'mean') return before === undefined ? undefined : meanSince(before, source, scrape);
  const values = [...scrape.nodes.values()].flatMap((node) => node.get(source) ?? []);
  if (values.length === 0) return undefined;
  if (how === 'sum') return sum(values);
  if (how === 'max') return Math.max(...values);
  if (before === undefined) return undefined;
  return (growth(source, scrape, before) * 1_000) / (scrape.atMs - before.atMs);
}

function meanSince(before: Scrape, source: string, scrape: Scrape): number | undefined {
  const count = growth(`${source}_count`, scrape, before);
  return count === 0 ? undefined : growth(`${source}_sum`, scrape, before) / count;
}

function growth(source: string, scrape: Scrape, before: Scrape): number {
  const grown = [...scrape.nodes].map(([url, node]) => {
    const [now, then] = [node.get(source) ?? 0, before.nodes.get(url)?.get(source)];
    if (then === undefined) return 0;
    return now < then ? now : now - then;
  });
  return sum(grown);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
