/** The figures of a run, for people. */
import type { Disturbed } from './nemesis.ts';
import { percentile, type Tally } from './tally.ts';
import type { Verdict } from './trial.ts';

const seconds = (ms: number | undefined): string => (ms === undefined ? '-' : (ms / 1_000).toFixed(1));

export function kindOf({ what }: Disturbed): string {
  return what.map(({ kind }) => kind).join(' + ');
}

/** One line on one disturbance, as it ends. */
export function lineOf(disturbed: Disturbed, tally: Tally): string {
  const { servedMs, recoveredMs, fencedWrites, beganMs, endedMs, complaints } = disturbed;
  const waits = tally.between(beganMs, endedMs).map(({ durationMs }) => durationMs);
  return [
    `${kindOf(disturbed)} (${disturbed.what.map(({ victim }) => victim).join(', ')})`,
    `served ${seconds(servedMs)} s, well ${seconds(recoveredMs)} s, fenced ${fencedWrites}`,
    `calls ${waits.length}, p99 ${seconds(percentile(waits, 0.99))} s, most ${seconds(Math.max(0, ...waits))} s`,
    ...complaints,
  ].join('; ');
}

/** A line per kind of disturbance: how often, and how long until served and until all was well. */
export function table(disturbed: readonly Disturbed[], tally: Tally): string {
  const byKind = new Map<string, Disturbed[]>();
  for (const each of disturbed) {
    const kind = each.what.length === 1 ? kindOf(each) : 'two at once';
    byKind.set(kind, [...(byKind.get(kind) ?? []), each]);
  }
  const rows = [...byKind].map(([kind, all]) => {
    const waits = all.flatMap(({ beganMs, endedMs }) =>
      tally.between(beganMs, endedMs).map(({ durationMs }) => durationMs),
    );
    return [
      kind,
      String(all.length),
      spread(all.map(({ servedMs }) => servedMs)),
      spread(all.map(({ recoveredMs }) => recoveredMs)),
      String(all.reduce((sum, { fencedWrites }) => sum + fencedWrites, 0)),
      seconds(percentile(waits, 0.99)),
      seconds(Math.max(0, ...waits)),
    ];
  });
  const head = ['disturbance', 'times', 'served after', 'well after', 'fenced', 'call p99', 'call most'];
  return aligned([head, ...rows]);
}

export function summary({ tally, disturbed, violations, complaints, endedByThemselves }: Verdict): string {
  const { acknowledgedWrites, unknownWrites, conflicts, failures, calls } = tally;
  const again = calls.reduce((sum, { attempts }) => sum + attempts - 1, 0);
  return [
    `${disturbed.length} disturbances, ${calls.length} calls, ${again} attempts repeated`,
    `  (not reached ${failures['not-reached']}, no answer ${failures['no-answer']}, 503 or 429 ${failures['not-now']})`,
    `${acknowledgedWrites} writes acknowledged, ${unknownWrites} of them after an unknown outcome, ${conflicts} conflicts`,
    ...endedByThemselves.map(({ node, code }) => `${node} ended by itself with code ${code}`),
    ...complaints,
    `${violations.length} violations`,
    ...violations.map(({ kind, user, detail }) => `  ${kind} (${user}): ${detail}`),
  ].join('\n');
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
