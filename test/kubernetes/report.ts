/** The results of a run on Kubernetes, and its page for people, docs/kubernetes-run.md. */
import type { Violation } from '../cluster/checker/violation.ts';
import {
  type CallRecord,
  type FailureReason,
  failuresOf,
  type OpenCall,
  percentile,
} from '../cluster/tally.ts';
import type { Ready } from './readiness.ts';
import type { Step } from './steps.ts';

export interface TrialOptions {
  readonly folder: string;
  /** The size of all images. */
  readonly archives: readonly string[];
  readonly seed: number;
  /** After all steps; 0 for none. */
  readonly soakMinutes: number;
}

export interface StepOutcome {
  readonly name: string;
  readonly isPlanned: boolean;
  readonly seconds: number;
  readonly calls: number;
  readonly failedAttempts: Readonly<Record<FailureReason, number>>;
  readonly p99Ms: number;
  /** Among the calls that were never told that there were too many at once. */
  readonly longestMs: number;
  /** Among the others, which wait like callers that must ask again. */
  readonly longestRepeatedMs: number;
  readonly before: Ready;
  readonly least: Ready;
  /** Empty if all was well. */
  readonly complaints: readonly string[];
}

export interface TrialResult {
  /** The output of `helm test`. */
  readonly smokeTest: string;
  readonly steps: readonly StepOutcome[];
  readonly calls: number;
  readonly acknowledgedWrites: number;
  readonly violations: readonly Violation[];
  readonly unfinished: readonly string[];
}

export interface Observed {
  readonly step: Step;
  /** The operator's error message, if a step failed. */
  readonly failure: string | undefined;
  readonly durationMs: number;
  readonly calls: readonly CallRecord[];
  /** Calls that have waited longer than anything should take, at the end: `unansweredText`. */
  readonly stuck: readonly string[];
  readonly before: Ready;
  readonly least: Ready;
}

/** A planned step may keep nobody waiting for longer. An attempt is given up after twice that, and has failed. */
const slowMs = 5_000;
/** The permitted unpacked size of the server's image. */
const imageMegabytesMax = 260;

const isRepeated = ({ failures }: CallRecord): boolean => failures.includes('too-many');

export function outcomeOf(observed: Observed): StepOutcome {
  const { step, durationMs, calls, before, least } = observed;
  const durations = calls.map((call) => call.durationMs);
  const longestOf = (some: readonly CallRecord[]): number =>
    Math.round(Math.max(0, ...some.map((call) => call.durationMs)));
  return {
    name: step.name,
    isPlanned: step.isPlanned,
    seconds: Math.round(durationMs / 1_000),
    calls: calls.length,
    failedAttempts: failuresOf(calls),
    p99Ms: Math.round(percentile(durations, 0.99)),
    longestMs: longestOf(calls.filter((call) => !isRepeated(call))),
    longestRepeatedMs: longestOf(calls.filter(isRepeated)),
    before,
    least,
    complaints: complaintsOf(observed),
  };
}

function complaintsOf({ step, failure, calls, stuck, before, least }: Observed): readonly string[] {
  const complaints = failure === undefined ? [] : [failure];
  if (calls.length === 0) complaints.push('nobody asked anything meanwhile');
  if (stuck.length > 0) {
    complaints.push(`${stuck.length} requests without an answer: ${stuck.join('; ')}`);
  }
  if (!step.isPlanned) return complaints;
  const failed = calls.filter(({ failures }) => failures.some((reason) => reason !== 'too-many'));
  if (failed.length > 0) {
    const what = [...new Set(failed.map((call) => `${call.what} (${call.failures.join(', ')})`))];
    complaints.push(`${failed.length} requests failed at first: ${what.join('; ')}`);
  }
  const slow = calls.filter((call) => !isRepeated(call) && call.durationMs > slowMs);
  if (slow.length > 0) {
    const what = slow.map((call) => `${call.who}, ${call.what} (${Math.round(call.durationMs)} ms)`);
    complaints.push(`${slow.length} requests took longer than ${slowMs} ms: ${what.join('; ')}`);
  }
  const { gateway = 0, host = 1 } = step.away ?? {};
  if (least.gateway < before.gateway - gateway) complaints.push(`only ${least.gateway} gateways were ready`);
  if (least.host < before.host - host) complaints.push(`only ${least.host} hosts were ready`);
  return complaints;
}

/** The actions of a step, with their times. */
export interface Span {
  readonly name: string;
  readonly beganMs: number;
  readonly endedMs: number;
}

/** Each client that waits, its request, since when, and what happened then. */
export function unansweredText({ who, what, atMs }: OpenCall, spans: readonly Span[]): string {
  const during = spans.find(({ beganMs, endedMs }) => atMs >= beganMs && atMs < endedMs);
  const since = new Date(performance.timeOrigin + atMs).toISOString();
  return `${who}, ${what}, since ${since} (${during?.name ?? 'between two steps'})`;
}

/** All problems; any of them fails the run. */
export const complaintsAbout = (
  { steps, violations, unfinished }: TrialResult,
  { imageMegabytes }: Circumstances,
): readonly string[] => [
  ...steps.flatMap(({ name, complaints }) => complaints.map((complaint) => `${name}: ${complaint}`)),
  ...violations.map(({ kind, user, detail }) => `${kind} (${user}): ${detail}`),
  ...unfinished,
  ...(imageMegabytes > imageMegabytesMax
    ? [`the image of the server is ${imageMegabytes} MB, more than ${imageMegabytesMax}`]
    : []),
];

export interface Circumstances {
  readonly date: string;
  readonly commit: string;
  /** The commit of the first build, if it is not the same. */
  readonly former?: string | undefined;
  readonly seed: number;
  readonly imageMegabytes: number;
}

/** All facts about the last run that a reader may want to know. */
export function page(outcome: TrialResult, circumstances: Circumstances): string {
  const { date, commit, former = commit, seed, imageMegabytes } = circumstances;
  const { steps, calls, acknowledgedWrites, violations, smokeTest } = outcome;
  const rows = steps.map((step) => {
    const { failedAttempts: failed, p99Ms, longestMs, longestRepeatedMs } = step;
    return [
      step.name,
      String(step.seconds),
      String(step.calls),
      `${failed['not-reached']} / ${failed['no-answer']} / ${failed['not-now']}`,
      `${p99Ms} / ${longestMs}`,
      `${failed['too-many']} / ${longestRepeatedMs}`,
      `${step.least.gateway} of ${step.before.gateway}`,
      `${step.least.host} of ${step.before.host}`,
    ];
  });
  const wrong = complaintsAbout(outcome, circumstances);
  return `# The last run on Kubernetes

\`npm run kubernetes\` wrote this on ${date}, of ${commit}, with the seed ${seed}. It makes a Kubernetes 1.34.4 of two nodes on one
machine: etcd, containerd and runc of Debian, the rest compiled from its module. It builds the images, and installs the chart by the
commands of [the guide](kubernetes.md) with the preset \`cluster\`. That is two gateways, three hosts, three NATS servers with
certificates of an authority, and PostgreSQL with TLS. It takes the steps below while devices and people with vaults and files work on
it. What they were told is checked as after the nemesis of [the tests](../CONTRIBUTING.md). No acknowledged write may be lost. Where a
step is planned, no request may fail or take longer than ${slowMs} ms. The first build is of ${former}. The other one has a later version and one
migration more, which a Job applies before its pods start. kube-router enforces the NetworkPolicies of the chart, also those of what pods may ask.
The Job of a backup restores it and starts a server on it. Calls that were told by 429 that there
are too many at once, and were repeated by their caller, have a column of their own.

${wrong.length === 0 ? 'All was as it should be.' : wrong.map((line) => `- ${line}`).join('\n')}

${calls} calls, ${acknowledgedWrites} acknowledged writes, ${violations.length} violations. The image of the server is ${imageMegabytes} MB unpacked.

${markdownTable(
  [
    'Step',
    'Seconds',
    'Calls',
    'Attempts not reached / unanswered / refused with 503',
    'p99 / longest, ms',
    'Attempts refused with 429 / longest of those, ms',
    'Gateways ready at least',
    'Hosts ready at least',
  ],
  rows,
)}

What \`helm test\` said:

\`\`\`
${smokeTest.trim()}
\`\`\`

What does not run there: cert-manager and the template of CockroachDB are not tried, and one machine is slower and more alike than
several.
`;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
