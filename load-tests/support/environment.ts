/** The inputs of a run (load-tests/README.md, "Settings of a run"). */
import { type Profile, profileOf, vusMaxOfMachine } from '../profiles.ts';

const optional = (name: string): string | undefined => __ENV[name] || undefined;

function required(name: string): string {
  const text = optional(name);
  if (text === undefined) throw new Error(`${name} is missing: see load-tests/README.md.`);
  return text;
}

function numberOr(name: string, fallback: number): number {
  const text = optional(name);
  return text === undefined ? fallback : numberIn(name, text);
}

/** @throws Error, one line */
function numberIn(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${name} has to be a number above 0, and is ${text}.`);
  return number;
}

const listOf = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim().replace(/\/$/, ''))
    .filter((part) => part !== '');

export const profileName = optional('PROFILE') ?? 'smoke';
const chosen = profileOf(profileName);

export const profile: Profile = {
  ...chosen,
  durationSeconds: numberIn('DURATION_SECONDS', required('DURATION_SECONDS')),
  perSecond: numberOr('PER_SECOND', chosen.perSecond),
  p99Ms: numberOr('P99_MS', chosen.p99Ms),
  errors: numberOr('ERRORS', chosen.errors),
  dropped: numberOr('DROPPED', chosen.dropped),
};

/** The number of load generators, each with one segment. Arrivals and permitted drops are totals over all of them. */
export const machines = numberOr('MACHINES', 1);
/** The total over all machines. */
export const vusMax = numberOr('VUS_MAX', vusMaxOfMachine) * machines;

/** The gateways, each of which gets its share. */
export const baseUrls = listOf(required('BASE_URLS'));
/** The metrics URLs of all nodes; empty if nobody may see them. */
export const metricsUrls = listOf(optional('METRICS_URLS'));
export const usersFile = required('USERS');
export const baselineFile = optional('BASELINE');
/** The path of the report, without extensions. If absent, the page goes to standard output. */
export const reportPath = optional('REPORT');
