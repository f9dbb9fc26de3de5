import exec from 'k6/execution';
import { sliceAt } from '../report/slices.ts';
import { profile } from './environment.ts';

/** The current slice: a tag of every measurement. */
export const slice = (): string =>
  sliceAt(exec.instance.currentTestRunDuration, profile.durationSeconds * 1_000);
