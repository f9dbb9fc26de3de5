/** A whole run: a cluster under a workload and a nemesis, judged at its end. */
import { join } from 'node:path';
import { until } from '../kit/until.ts';
import type { Builds } from './build.ts';
import { check } from './checker/checker.ts';
import type { Violation } from './checker/violation.ts';
import { Cluster, type EndedByItself } from './cluster.ts';
import { History } from './history.ts';
import { type Disturbed, Nemesis } from './nemesis.ts';
import { Probe } from './probe.ts';
import { Tally } from './tally.ts';
import { Workload } from './workload.ts';

export interface TrialOptions {
  readonly builds: Builds;
  readonly seed: number;
  readonly leaseMs: number;
  readonly users: number;
  readonly devicesOfEach: number;
  /** Between two actions of a device, on average. */
  readonly pauseMs: number;
  /** Keeps the history and the logs of the nodes. */
  readonly directory: string;
  /** What the nemesis does. */
  readonly disturb: (nemesis: Nemesis, history: History) => Promise<void>;
  readonly onDone?: (disturbed: Disturbed, tally: Tally) => void;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  /** Of the nemesis: what was not served, did not recover, or was fenced without a reason. */
  readonly complaints: readonly string[];
  readonly endedByThemselves: readonly EndedByItself[];
  readonly disturbed: readonly Disturbed[];
  readonly tally: Tally;
  readonly historyFile: string;
}

/** For one attempt; a client of people waits longer, and finds out less. */
const timeoutMs = 4_000;
/** Sweeps come every few seconds. */
const tellsLimitMs = 20_000;

export async function runTrial(options: TrialOptions): Promise<Verdict> {
  const { builds, leaseMs, directory, seed, users, devicesOfEach, pauseMs } = options;
  const historyFile = join(directory, 'history.jsonl');
  const history = new History(historyFile);
  const tally = new Tally();
  const cluster = await Cluster.start({ builds, leaseMs, directory });
  let workload: Workload | undefined;
  try {
    const { gateways } = cluster;
    const load = { gateways, users, devicesOfEach, pauseMs, timeoutMs, seed };
    workload = new Workload({ ...load, history, tally });
    const probe = await Probe.open(gateways);
    await workload.open();
    const disturbed: Disturbed[] = [];
    const onDone = (each: Disturbed): void => {
      disturbed.push(each);
      options.onDone?.(each, tally);
    };
    workload.start();
    await options.disturb(new Nemesis({ cluster, history, probe, seed, onDone }), history);
    const complaints = disturbed.flatMap((each) => each.complaints);
    const unfinished = await workload.finish().then(
      () => [],
      (error: Error) => [`the workload did not finish: ${error.message}`],
    );
    const untold = await until(async () => (await cluster.pendingTells()) === 0, tellsLimitMs).then(
      () => [],
      () => ['tells wait in the outbox and are not consumed'],
    );
    const { endedByThemselves } = cluster;
    const violations = check(history.entries);
    return {
      violations,
      complaints: [...complaints, ...unfinished, ...untold],
      endedByThemselves,
      disturbed,
      tally,
      historyFile,
    };
  } finally {
    workload?.abandon();
    history.flush();
    await cluster.stop();
  }
}
