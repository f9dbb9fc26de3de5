import exec from 'k6/execution';
import { sliceAt } from '../report/slices.ts';
import { profile } from './environment.ts';

/** The slice that this moment is in: a tag of everything that is measured. */
export const slice = (): string =>
  sliceAt(exec.instance.currentTestRunDuration, profile.durationSeconds * 1_000);
