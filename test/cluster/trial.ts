/** A whole run: a cluster under a workload and a nemesis, checked at its end. */
import { join } from 'node:path';
import { until } from '../kit/until.ts';
import type { Builds } from './build.ts';
import { Bystanders } from './bystanders.ts';
import { type Sync, syncsOfOthers } from './checker/bystanders.ts';
import { check } from './checker/checker.ts';
import type { Violation } from './checker/violation.ts';
import { Cluster, type EndedByItself } from './cluster.ts';
import { finishAll } from './finish.ts';
import { History } from './history.ts';
import { type Disturbed, Nemesis } from './nemesis.ts';
import { Circles } from './people/circles.ts';
import { Probe } from './probe.ts';
import { Tally } from './tally.ts';
import { Workload } from './workload.ts';

export interface TrialOptions {
  readonly builds: Builds;
  readonly seed: number;
  readonly leaseMs: number;
  readonly users: number;
  readonly devicesOfEach: number;
  /** People who share vaults and keep files. */
  readonly circles: number;
  /** Between two actions of a device, on average. */
  readonly pauseMs: number;
  /** Keeps the history and the logs of the nodes. */
  readonly directory: string;
  /** What the nemesis does. */
  readonly disturb: (nemesis: Nemesis, history: History, tally: Tally) => Promise<void>;
  readonly onDone?: (disturbed: Disturbed, tally: Tally) => void;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  /** The nemesis's findings: users not served, no recovery, or a fenced write without a reason. */
  readonly complaints: readonly string[];
  readonly endedByThemselves: readonly EndedByItself[];
  readonly disturbed: readonly Disturbed[];
  readonly tally: Tally;
  /** Those that no cut from the database may hold up. */
  readonly bystanders: readonly Sync[];
  readonly historyFile: string;
}

/** For one attempt. A client of people waits longer, and finds out less. */
const timeoutMs = 4_000;
/**
 * Longer than a request may take at the server. A client that asks again every four seconds makes a busy server
 * busier, and never learns whether it would have got an answer.
 */
const timeoutMaxMs = 30_000;
/** The quota of an account's files: small, so that uploads race for it. */
const limitBytes = 150_000;
/** Sweeps come every few seconds. */
const tellsLimitMs = 20_000;

export async function runTrial(options: TrialOptions): Promise<Verdict> {
  const { builds, leaseMs, directory, seed, users, devicesOfEach, circles, pauseMs } = options;
  const historyFile = join(directory, 'history.jsonl');
  const history = new History(historyFile);
  const tally = new Tally();
  const settings = { ACCOUNT_FILE_BYTES_MAX: String(limitBytes) };
  const cluster = await Cluster.start({ builds, leaseMs, directory, settings });
  let workload: Workload | undefined;
  let people: Circles | undefined;
  try {
    const { gateways } = cluster;
    const load = { gateways, pauseMs, timeoutMs, timeoutMaxMs, seed, history, tally };
    workload = new Workload({ ...load, users, devicesOfEach });
    people = new Circles({ ...load, circles, limitBytes });
    const probe = await Probe.open(gateways);
    const bystanders = await Bystanders.open(gateways);
    await workload.open();
    await people.open();
    const disturbed: Disturbed[] = [];
    const onDone = (each: Disturbed): void => {
      disturbed.push(each);
      options.onDone?.(each, tally);
    };
    workload.start();
    people.start();
    await options.disturb(new Nemesis({ cluster, history, probe, bystanders, seed, onDone }), history, tally);
    const complaints = disturbed.flatMap((each) => each.complaints);
    const unfinished = await finishAll([workload, people]);
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
      bystanders: [...syncsOfOthers(history.entries)],
      historyFile,
    };
  } finally {
    workload?.abandon();
    people?.abandon();
    history.flush();
    await cluster.stop();
  }
}
