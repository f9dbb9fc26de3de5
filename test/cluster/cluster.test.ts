/**
 * Three nodes, three NATS servers and a PostgreSQL as processes, under load and under every kind of disturbance. No
 * client loses an acknowledged save, receives what it should not, or waits for long. That holds alone, in shared
 * vaults and with files. `npm run nemesis` does the same for any time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { serverExitCodes } from '../../process/start-error.ts';
import { until } from '../kit/until.ts';
import { buildTwice, takeTheFenceAway } from './build.ts';
import { check } from './checker/checker.ts';
import { disturbanceKinds } from './disturbances.ts';
import { lineOf, summary, table } from './report.ts';
import type { Tally } from './tally.ts';
import { runTrial, type TrialOptions } from './trial.ts';

const seed = 20_261_120;
const limitMs = 900_000;
const amidCommits = 'pause a node amid its commits';
const load = { seed, leaseMs: 4_000, users: 12, devicesOfEach: 2, circles: 2, pauseMs: 200 };

/** The operations that people must have done; otherwise the run proves nothing. */
const operationsNeeded = ['accept', 'remove', 'designate', 'upload', 'read', 'erase', 'move'] as const;
const writesNeeded = 1_000;
/** Answered over the sync lane. */
const lanesNeeded = 500;
/** On a busy machine people do little while the disturbances last, so the load goes on until they have done enough. */
const enoughLimitMs = 180_000;

function undone({ operations, acknowledgedWrites, overLane }: Tally): readonly string[] {
  return [
    ...operationsNeeded.filter((does) => (operations.get(does)?.done ?? 0) === 0),
    ...(acknowledgedWrites > writesNeeded ? [] : [`${writesNeeded} writes`]),
    ...(overLane > lanesNeeded ? [] : [`${lanesNeeded} syncs over the lane`]),
  ];
}

async function trial(t: ExecutionContext, options: Pick<TrialOptions, 'builds' | 'disturb' | 'onDone'>) {
  t.timeout(limitMs);
  const directory = mkdtempSync(join(tmpdir(), 'cluster-trial-'));
  // The files of a failed run stay for inspection.
  t.teardown(() => t.passed && rmSync(directory, { recursive: true, force: true }));
  const verdict = await runTrial({ ...load, ...options, directory });
  t.log(`seed ${seed}, ${verdict.historyFile}`);
  return verdict;
}

test.serial('a cluster keeps what it promised under every kind of disturbance', async (t) => {
  let lateWrites = 0;
  const verdict = await trial(t, {
    builds: await buildTwice('cluster'),
    disturb: async (nemesis, _history, tally) => {
      await nemesis.round();
      // Maybe no commit was in flight at the paused node.
      for (let more = 0; more < 3 && lateWrites === 0; more += 1) await nemesis.disturb(amidCommits);
      await until(() => undone(tally).length === 0, enoughLimitMs).catch(() => undefined);
    },
    onDone: (disturbed, tally) => {
      t.log(lineOf(disturbed, tally));
      if (disturbed.what.some(({ kind }) => kind === amidCommits)) lateWrites += disturbed.fencedWrites;
    },
  });
  t.log(`${table(verdict.disturbed, verdict.tally)}\n\n${summary(verdict)}`);
  t.deepEqual(verdict.violations, []);
  t.deepEqual(verdict.complaints, []);
  t.deepEqual(
    verdict.endedByThemselves.filter(({ code }) => code === serverExitCodes.software),
    [],
  );
  const disturbed = verdict.disturbed.flatMap(({ what }) => what.map(({ kind }) => kind));
  t.deepEqual([...new Set(disturbed)].sort(), [...disturbanceKinds].sort());
  t.true(lateWrites > 0, 'commits that arrive after a take-over are refused');
  t.deepEqual(undone(verdict.tally), []);
});

test.serial('a cluster without the fence is caught', async (t) => {
  const builds = await buildTwice('cluster');
  await takeTheFenceAway(builds);
  const { violations } = await trial(t, {
    builds,
    disturb: async (nemesis, history) => {
      for (let times = 0; times < 12 && check(history.entries).length === 0; times += 1) {
        await nemesis.disturb(amidCommits);
      }
    },
  });
  t.true(violations.some(({ kind }) => kind === 'applied-twice' || kind === 'lost' || kind === 'forked'));
});
