/** The required results: thresholds of k6, by tag. */
import type { Options } from 'k6/options';
import { answerNames } from '../report/answers.ts';
import { observed } from '../report/observed.ts';
import { sliceNames } from '../report/slices.ts';
import { machines, profile } from './environment.ts';
import { type Operation, operations } from './operations.ts';

type Thresholds = NonNullable<Options['thresholds']>;

const { p99Ms, errors, dropped } = profile;

export interface Objectives {
  readonly operations: readonly Operation[];
  /** Whether sockets are opened. */
  readonly sockets?: boolean;
  readonly pushes?: boolean;
  /** Whether the sync lane is opened. */
  readonly lane?: boolean;
  /** How many times as long everything may take, because it is slower for a while. */
  readonly times?: number;
}

export function thresholdsOf(objectives: Objectives): Thresholds {
  const { operations: done, sockets = false, pushes = false, lane = false, times = 1 } = objectives;
  const p99 = (factor: number) => [`p(99)<${p99Ms * factor * times}`];
  return {
    ...Object.fromEntries(
      done.flatMap((operation) => [
        [`http_req_duration{operation:${operation}}`, p99(operations[operation].times)],
        [`http_req_failed{operation:${operation}}`, [`rate<=${errors}`]],
        [`checks{operation:${operation}}`, [`rate>=${1 - errors}`]],
      ]),
    ),
    // Iterations that did not start for lack of a free VU were not measured.
    dropped_iterations: [`rate<=${(dropped * profile.perSecond) / machines}`],
    ...(sockets && { socket_failed: [`rate<=${errors}`], socket_open: p99(2) }),
    ...(pushes && { push_lost: [`rate<=${errors}`], save_to_push: p99(1) }),
    ...(lane && {
      lane_failed: [`rate<=${errors}`],
      lane_open: p99(2),
      lane_lost: [`rate<=${errors}`],
      lane_command: p99(1),
    }),
    ...keptByTag({ sockets, pushes, lane }),
  };
}

/** k6 keeps the values of a tag only if a threshold uses them. These always hold, and reports do not show them. */
function keptByTag({ sockets, pushes, lane }: Record<'sockets' | 'pushes' | 'lane', boolean>): Thresholds {
  const thresholds = (metric: string, holds: string) =>
    sliceNames.map((name) => [`${metric}{slice:${name}}`, [holds]]);
  return Object.fromEntries([
    ...thresholds('http_req_duration', 'max>=0'),
    ...thresholds('http_req_failed', 'rate>=0'),
    ...(sockets ? thresholds('socket_open', 'max>=0') : []),
    ...(pushes ? thresholds('save_to_push', 'max>=0') : []),
    ...(lane ? [...thresholds('lane_open', 'max>=0'), ...thresholds('lane_command', 'max>=0')] : []),
    ...observed.flatMap(({ name }) => thresholds(name, 'max>=0')),
    ...answerNames.flatMap((name) => [
      [`failed_answers{answer:${name}}`, ['count>=0']],
      [`metrics_unread{answer:${name}}`, ['rate>=0']],
    ]),
  ]);
}
