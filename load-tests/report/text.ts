/** Numbers and names for people, and the terminal output of a run. */
import type { Objective, Report } from './report.ts';

/** With about three significant digits. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const [whole = '', fraction] = value.toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export const nameText = (name: string): string => name.replaceAll('_', ' ').replaceAll('-', ' ');

const operationOf = /^(\w+)\{operation:(.+)\}$/;

/** For example "p99 of edit" for `http_req_duration{operation:edit}` and `p(99)<500`. */
export function objectiveText({ metric, threshold }: Objective): string {
  const [, name = metric, operation] = operationOf.exec(metric) ?? [];
  const limit = threshold.replace('p(99)', 'p99').replace(/([<>]=?)/, ' $1 ');
  const of = operation === undefined ? '' : `${nameText(operation)}: `;
  return `${of}${objectiveNames[name] ?? nameText(name)}, ${limit}`;
}

const objectiveNames: Readonly<Record<string, string>> = {
  http_req_duration: 'time of an answer in ms',
  http_req_failed: 'share of requests that failed',
  checks: 'share of right answers',
  dropped_iterations: 'iterations that found no VU, per second',
  lane_command: 'a command over the lane in ms',
  lane_failed: 'share of sockets of the lane that did not open',
  lane_lost: 'share of commands that the lane did not answer',
  lane_open: 'from the ticket to the open lane in ms',
  push_lost: 'share of pushes that never came',
  save_to_push: 'from a save to its push in ms',
  socket_failed: 'share of sockets that were refused',
  socket_open: 'opening a socket in ms',
};

const answersText = (answers: Readonly<Record<string, number>>): string =>
  Object.entries(answers)
    .map(([answer, times]) => `${answer} (${numberText(times)})`)
    .join(', ');

/** Why requests failed, if any did. */
export function failuresText({ failures }: Report): string | undefined {
  const text = answersText(failures);
  return text === '' ? undefined : `Failed requests were answered: ${text}.`;
}

/** Why a report cannot show the state of the server. */
export function unreadText({ metrics: { scrapes, unread, answers } }: Report): string | undefined {
  if (unread === 0) return undefined;
  const hint = answers['421'] === undefined ? '' : ' 421: name the node as its ADMIN_NAMES do.';
  return `The server's metrics could not be read in ${numberText(unread)} of ${numberText(scrapes)} scrapes of a node, which answered ${answersText(answers)}.${hint}`;
}

export function verdictText(report: Report): string {
  const { verdict, run, objectives, operations } = report;
  const remarks = [failuresText(report), unreadText(report)].filter((text) => text !== undefined);
  const broken = objectives.filter(({ holds }) => !holds);
  const lines = [
    `${run.scenario} (${run.profile}, ${run.durationSeconds} s): ${verdict.toUpperCase()}`,
    ...broken.map(
      (objective) => `  ✘ ${objectiveText(objective)}: ${numberText(objective.value ?? Number.NaN)}`,
    ),
    ...operations.map(
      ({ operation, count, failed, p50, p99 }) =>
        `  ${operation}: ${numberText(count)} requests, ${failed} failed, p50 ${numberText(p50)} ms, p99 ${numberText(p99)} ms`,
    ),
    ...remarks.map((text) => `  ${text}`),
  ];
  return `${lines.join('\n')}\n`;
}
