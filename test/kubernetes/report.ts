/** What a run on Kubernetes came to, and its page for people, docs/kubernetes-run.md. */
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
  /** Of all images. */
  readonly archives: readonly string[];
  readonly seed: number;
}

export interface StepOutcome {
  readonly name: string;
  readonly isPlanned: boolean;
  readonly seconds: number;
  readonly calls: number;
  readonly failedAttempts: Readonly<Record<FailureReason, number>>;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly before: Ready;
  readonly least: Ready;
  /** Empty if all was as it should be. */
  readonly complaints: readonly string[];
}

export interface Outcome {
  /** What `helm test` printed. */
  readonly smokeTest: string;
  readonly steps: readonly StepOutcome[];
  readonly calls: number;
  readonly acknowledgedWrites: number;
  readonly violations: readonly Violation[];
  readonly unfinished: readonly string[];
}

export interface Observed {
  readonly step: Step;
  /** What the operator was told instead of success. */
  readonly failure: string | undefined;
  readonly durationMs: number;
  readonly calls: readonly CallRecord[];
  /** What has waited in vain for longer than anything should take, at its end. */
  readonly stuck: readonly OpenCall[];
  readonly before: Ready;
  readonly least: Ready;
}

export function outcomeOf(observed: Observed): StepOutcome {
  const { step, durationMs, calls, before, least } = observed;
  const durations = calls.map((call) => call.durationMs);
  return {
    name: step.name,
    isPlanned: step.isPlanned,
    seconds: Math.round(durationMs / 1_000),
    calls: calls.length,
    failedAttempts: failuresOf(calls),
    p99Ms: Math.round(percentile(durations, 0.99)),
    longestMs: Math.round(percentile(durations, 1)),
    before,
    least,
    complaints: complaintsOf(observed),
  };
}

function complaintsOf({ step, failure, calls, stuck, before, least }: Observed): readonly string[] {
  const complaints = failure === undefined ? [] : [failure];
  if (calls.length === 0) complaints.push('nobody asked anything meanwhile');
  if (stuck.length > 0) {
    const what = [...new Set(stuck.map((call) => call.what))];
    complaints.push(`${stuck.length} requests without an answer: ${what.join('; ')}`);
  }
  if (!step.isPlanned) return complaints;
  const failed = calls.filter(({ failures }) => failures.some((reason) => reason !== 'too-many'));
  if (failed.length > 0) {
    const what = [...new Set(failed.map((call) => `${call.what} (${call.failures.join(', ')})`))];
    complaints.push(`${failed.length} requests failed at first: ${what.join('; ')}`);
  }
  const { gateway = 0, host = 1 } = step.away ?? {};
  if (least.gateway < before.gateway - gateway) complaints.push(`only ${least.gateway} gateways were ready`);
  if (least.host < before.host - host) complaints.push(`only ${least.host} hosts were ready`);
  return complaints;
}

export const isAsItShouldBe = ({ steps, violations, unfinished }: Outcome): boolean =>
  violations.length + unfinished.length === 0 && steps.every(({ complaints }) => complaints.length === 0);

export interface Circumstances {
  readonly date: string;
  readonly commit: string;
  readonly seed: number;
  readonly imageMegabytes: number;
}

/** Everything that a reader may want to know of the last run. */
export function page(outcome: Outcome, { date, commit, seed, imageMegabytes }: Circumstances): string {
  const { steps, calls, acknowledgedWrites, violations, unfinished, smokeTest } = outcome;
  const rows = steps.map((step) => {
    const { 'not-reached': unreached, 'no-answer': unanswered, 'not-now': refused } = step.failedAttempts;
    return [
      step.name,
      String(step.seconds),
      String(step.calls),
      `${unreached} / ${unanswered} / ${refused}`,
      `${step.p99Ms} / ${step.longestMs}`,
      `${step.least.gateway} of ${step.before.gateway}`,
      `${step.least.host} of ${step.before.host}`,
    ];
  });
  const wrong = [
    ...steps.flatMap(({ name, complaints }) => complaints.map((complaint) => `${name}: ${complaint}`)),
    ...violations.map(({ kind, user, detail }) => `${kind} (${user}): ${detail}`),
    ...unfinished,
  ];
  return `# The last run on Kubernetes

\`npm run kubernetes\` wrote this on ${date}, of ${commit}, with the seed ${seed}. It makes a Kubernetes 1.34.4 of two nodes on one
machine (etcd, containerd and runc of Debian, the rest compiled from its module), builds the images, installs the chart by the commands
of [the guide](kubernetes.md) with the preset \`cluster\` (two gateways, three hosts, three NATS servers with certificates of an
authority, PostgreSQL with TLS), and takes the steps below while devices and people with vaults and files work on it. What they were
told is checked as after the nemesis of [the tests](../CONTRIBUTING.md): no acknowledged write may be lost, and where a step is
planned, no request may fail.

${wrong.length === 0 ? 'All was as it should be.' : wrong.map((line) => `- ${line}`).join('\n')}

${calls} calls, ${acknowledgedWrites} acknowledged writes, ${violations.length} violations. The image of the server is ${imageMegabytes} MB unpacked.

${markdownTable(
  [
    'Step',
    'Seconds',
    'Calls',
    'Attempts not reached / unanswered / refused with 503',
    'p99 / longest, ms',
    'Gateways ready at least',
    'Hosts ready at least',
  ],
  rows,
)}

What \`helm test\` said:

\`\`\`
${smokeTest.trim()}
\`\`\`

What does not run there: NetworkPolicies are not enforced, nothing serves metrics to the HPA beyond its least number of gateways,
cert-manager and the template of CockroachDB are not tried, and one machine is slower and more alike than several.
`;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
