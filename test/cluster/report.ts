/** The figures of a run, for people. */
import type { Sync } from './checker/bystanders.ts';
import type { Disturbed } from './nemesis.ts';
import { type CallRecord, failuresOf, percentile, type Tally } from './tally.ts';
import type { Verdict } from './trial.ts';

const seconds = (ms: number | undefined): string => (ms === undefined ? '-' : (ms / 1_000).toFixed(1));

function kindOf({ what }: Disturbed): string {
  return what.map(({ kind }) => kind).join(' + ');
}

/** One line on one disturbance, as it ends. */
export function lineOf(disturbed: Disturbed, tally: Tally): string {
  const { servedMs, recoveredMs, fencedWrites, beganMs, endedMs, complaints } = disturbed;
  const calls = tally.between(beganMs, endedMs);
  return [
    `${kindOf(disturbed)} (${disturbed.what.map(({ victim }) => victim).join(', ')})`,
    `served ${seconds(servedMs)} s, well ${seconds(recoveredMs)} s, fenced ${fencedWrites}`,
    `calls ${calls.length}, p99 ${waits(calls, 0.99)} s, most ${waits(calls, 1)} s, failed attempts ${failed(calls)}`,
    ...complaints,
  ].join('; ');
}

/** A line per kind of disturbance: how often it came, and how long until users were served and all was well. */
export function table(disturbed: readonly Disturbed[], tally: Tally): string {
  const byKind = new Map<string, Disturbed[]>();
  for (const each of disturbed) {
    const kind = each.what.length === 1 ? kindOf(each) : 'two at once';
    byKind.set(kind, [...(byKind.get(kind) ?? []), each]);
  }
  const rows = [...byKind].map(([kind, all]) => {
    const calls = all.flatMap(({ beganMs, endedMs }) => tally.between(beganMs, endedMs));
    return [
      kind,
      String(all.length),
      spread(all.map(({ servedMs }) => servedMs)),
      spread(all.map(({ recoveredMs }) => recoveredMs)),
      String(all.reduce((sum, { fencedWrites }) => sum + fencedWrites, 0)),
      failed(calls),
      `${waits(calls, 0.5)} / ${waits(calls, 0.99)} / ${waits(calls, 1)} s`,
    ];
  });
  const head = [
    'disturbance',
    'times',
    'served after',
    'well after',
    'fenced',
    'failed attempts',
    'calls p50 / p99 / most',
  ];
  return aligned([head, ...rows]);
}

export function summary(verdict: Verdict): string {
  const { tally, disturbed, violations, complaints, endedByThemselves, bystanders } = verdict;
  const { acknowledgedWrites, unknownWrites, conflicts, calls, overLane } = tally;
  const operations = [...tally.operations]
    .sort()
    .map(([does, { done, refused }]) => `${does} ${done} + ${refused}`);
  return [
    `${disturbed.length} disturbances, ${calls.length} calls, failed attempts ${failed(calls)}`,
    `${acknowledgedWrites} writes acknowledged, ${unknownWrites} of them after an unknown outcome, ${conflicts} conflicts, ${overLane} syncs over the lane`,
    `vaults and files, done + refused: ${operations.join(', ')}`,
    `${bystanders.length} syncs while the node of others was cut off from the database, p50 / p99 / most ${waitsOf(bystanders)} ms`,
    ...endedByThemselves.map(({ node, code }) => `${node} ended by itself with code ${code}`),
    ...complaints,
    `${violations.length} violations`,
    ...violations.map(({ kind, user, detail }) => `  ${kind} (${user}): ${detail}`),
  ].join('\n');
}

/**
 * Requests without an answer, or answered 503 or 429. It leaves out refused connections, which a load balancer hides
 * from clients.
 */
function failed(calls: readonly CallRecord[]): string {
  const failures = failuresOf(calls);
  return `${failures['no-answer']} + ${failures['not-now']}`;
}

function waits(calls: readonly CallRecord[], share: number): string {
  return seconds(
    percentile(
      calls.map(({ durationMs }) => durationMs),
      share,
    ),
  );
}

function waitsOf(syncs: readonly Sync[]): string {
  const waits = syncs.map(({ tookMs }) => tookMs);
  return [0.5, 0.99, 1].map((share) => percentile(waits, share)).join(' / ');
}

/** Median and worst. */
function spread(values: readonly (number | undefined)[]): string {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return '-';
  return `${seconds(percentile(known, 0.5))} / ${seconds(Math.max(...known))} s`;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}
