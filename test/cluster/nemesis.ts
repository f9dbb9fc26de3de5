/**
 * Disturbs a cluster by a seeded plan, one thing after another and sometimes two at once. It repairs each. Then the
 * cluster must serve everybody through every gateway within a bound before the next one comes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LongRandom, type SeededRandom } from '../kit/random.ts';
import type { Bystanders } from './bystanders.ts';
import type { Cluster } from './cluster.ts';
import { type Disturbance, type DisturbanceKind, disturbanceKinds, disturbanceOf } from './disturbances.ts';
import type { History } from './history.ts';
import type { ClusterNode } from './node.ts';
import { type Probe, timeoutMs } from './probe.ts';

export interface NemesisOptions {
  readonly cluster: Cluster;
  readonly history: History;
  readonly probe: Probe;
  readonly bystanders: Bystanders;
  readonly seed: number;
  readonly onDone: (disturbed: Disturbed) => void;
}

export interface Disturbed {
  readonly what: readonly Disturbance[];
  readonly beganMs: number;
  readonly endedMs: number;
  /** From the beginning until the rest served everybody; undefined if that was not required, or not in time. */
  readonly servedMs: number | undefined;
  /** From the repair until every gateway served everybody and every node was ready; undefined: not in time. */
  readonly recoveredMs: number | undefined;
  /** Writes refused because a newer owner held the actor, as the nodes count them. */
  readonly fencedWrites: number;
  readonly complaints: readonly string[];
}

const secondAtOnce = 0.25;
/** In addition to two lease times, for two busy cores. */
const servedSlackMs = 10_000;
/** A cluster that does not come back by then never does. A restart on a starved machine may take a minute. */
const recoveredMaxMs = 90_000;
const quietMs = 300;
const scrapesMost = 10;

export class Nemesis {
  readonly #options: NemesisOptions;
  readonly #random: SeededRandom;

  constructor(options: NemesisOptions) {
    this.#options = options;
    this.#random = new LongRandom(options.seed);
  }

  /** Every kind once, in a new order each time. */
  async round(isOver: () => boolean = () => false): Promise<void> {
    for (const kind of this.#shuffled(disturbanceKinds)) {
      if (isOver()) return;
      await this.#disturb(this.#choose(kind));
    }
  }

  /** One kind, with one target. */
  disturb(kind: DisturbanceKind): Promise<void> {
    return this.#disturb([disturbanceOf(kind, this.#options.cluster, this.#random)]);
  }

  async #disturb(what: readonly Disturbance[]): Promise<void> {
    const { cluster, history, probe, onDone } = this.#options;
    const text = what.map(({ kind, victim, lastsMs }) => `${kind} (${victim}, ${lastsMs} ms)`).join(' + ');
    const fencedBefore = await fencedWrites(cluster);
    history.add({ event: 'note', text: `begins: ${text}` });
    const beganMs = performance.now();
    const passing = this.#watched(what, Promise.all(what.map(pass)));
    const canServe = what.every(({ serves }) => serves);
    const servedLimitMs = 2 * cluster.leaseMs + servedSlackMs;
    const servedMs = canServe ? await probe.served(cluster.gateways, servedLimitMs) : undefined;
    await passing;
    history.add({ event: 'note', text: `mended: ${text}` });
    const recoveredMs = await this.#recovered();
    const fenced = difference(fencedBefore, await fencedWrites(cluster));
    const endedMs = performance.now();
    const harmless = what.every(({ harms }) => harms === 'nothing');
    const complaints = [
      ...(canServe && servedMs === undefined ? [`not everybody was served within ${servedLimitMs} ms`] : []),
      ...(recoveredMs === undefined ? [await this.#illness()] : []),
      ...(harmless && fenced > 0 ? [`${fenced} writes were fenced`] : []),
    ].map((complaint) => `${text}: ${complaint}`);
    onDone({ what, beganMs, endedMs, servedMs, recoveredMs, fencedWrites: fenced, complaints });
    await pause(quietMs);
  }

  /** A second disturbance may hold anybody up. */
  async #watched(what: readonly Disturbance[], passing: Promise<unknown>): Promise<void> {
    const { cluster, history, bystanders } = this.#options;
    const [first, second] = what;
    const watching =
      first?.cutOff !== undefined && second === undefined
        ? bystanders.watch(cluster, first.cutOff, history, passing)
        : undefined;
    await Promise.all([passing, watching]);
  }

  /** Sometimes together with a second one, of another kind and with another target. */
  #choose(kind: DisturbanceKind): readonly Disturbance[] {
    const { cluster } = this.#options;
    const first = disturbanceOf(kind, cluster, this.#random);
    if (!this.#random.chance(secondAtOnce)) return [first];
    const second = disturbanceOf(this.#random.pick(disturbanceKinds), cluster, this.#random);
    const together = first.victim !== second.victim && !both(first, second, 'nats');
    return together ? [first, second] : [first];
  }

  async #recovered(): Promise<number | undefined> {
    const { cluster, probe } = this.#options;
    const mendedMs = performance.now();
    const leftMs = () => recoveredMaxMs - (performance.now() - mendedMs);
    while (!(await areReady(cluster))) {
      if (leftMs() < 0) return undefined;
      await pause(50);
    }
    const served = await probe.servedByEach(cluster.gateways, leftMs());
    return served === undefined ? undefined : performance.now() - mendedMs;
  }

  /** Failures that remain a good while after the repair. */
  async #illness(): Promise<string> {
    const { cluster, probe } = this.#options;
    const nodes = await Promise.all(
      cluster.nodes.map(async (node) => {
        const served = await probe.served([node.url], 2 * timeoutMs);
        const checks = await node.readiness().catch(() => 'silent');
        return `${node.id} ${served === undefined ? 'does not serve everybody' : 'serves'}, ${JSON.stringify(checks)}`;
      }),
    );
    return `not well ${recoveredMaxMs} ms after mending: ${nodes.join('; ')}`;
  }

  #shuffled<T>(from: readonly T[]): readonly T[] {
    return from
      .map((value) => ({ value, at: this.#random.fraction() }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value);
  }
}

async function pass({ begin, lastsMs, mend }: Disturbance): Promise<void> {
  await begin();
  await pause(lastsMs);
  await mend();
}

const both = (first: Disturbance, second: Disturbance, what: string): boolean =>
  first.victim.startsWith(what) && second.victim.startsWith(what);

async function areReady(cluster: Cluster): Promise<boolean> {
  return (await Promise.all(cluster.nodes.map((node) => node.isReady()))).every((ready) => ready);
}

function fencedWrites(cluster: Cluster): Promise<readonly number[]> {
  return Promise.all(cluster.nodes.map(fencedWritesOf));
}

/** A node that is too busy to answer is asked again. Counting it as none would make its total wrong. */
async function fencedWritesOf(node: ClusterNode): Promise<number> {
  for (let attempt = 0; attempt < scrapesMost; attempt += 1) {
    const count = await node.metric('scriptorium_fenced_writes_total');
    if (count !== undefined) return count;
  }
  return 0;
}

/** A restarted node counts from zero. */
function difference(before: readonly number[], after: readonly number[]): number {
  return after.reduce((sum, now, index) => {
    const then = before[index] ?? 0;
    return sum + (now < then ? now : now - then);
  }, 0);
}
