/**
 * Compares a run with a stored one. It reports changes and judges nothing: machines differ, and the objectives judge.
 */
import type { Report } from './report.ts';

/** A smaller change is the usual difference between two runs. */
const shareThatCounts = 0.2;
const msThatCount = 1;

export const comparable = ({ run }: Report, baseline: Report | undefined): boolean =>
  baseline !== undefined &&
  baseline.run.scenario === run.scenario &&
  baseline.run.profile === run.profile &&
  baseline.run.perSecond === run.perSecond &&
  baseline.run.machines === run.machines &&
  baseline.run.durationSeconds === run.durationSeconds;

export interface Change {
  readonly kind: 'good' | 'bad' | 'same';
  readonly text: string;
}

/** For times, where less is better. */
export function changeOf(now: number, before: number | undefined): Change | undefined {
  if (before === undefined || before <= 0) return undefined;
  const share = now / before - 1;
  const text = `${share < 0 ? '−' : '+'}${Math.round(Math.abs(share) * 100)} %`;
  const counts = Math.abs(share) > shareThatCounts && Math.abs(now - before) > msThatCount;
  if (!counts) return { kind: 'same', text };
  return { kind: share < 0 ? 'good' : 'bad', text };
}
