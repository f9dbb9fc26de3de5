/** The common parts of all load tests: their options, the server's state before them, and the report after them. */
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { answerName } from '../report/answers.ts';
import { seenIn } from '../report/observe.ts';
import { page } from '../report/page.ts';
import { type Report, reportOf, type Summary } from '../report/report.ts';
import { verdictText } from '../report/text.ts';
import type { Arrivals } from './arrivals.ts';
import {
  baselineFile,
  baseUrls,
  machines,
  metricsUrls,
  profile,
  profileName,
  reportPath,
  vusMax,
} from './environment.ts';
import { type Objectives, thresholdsOf } from './objectives.ts';
import { expectPartOf } from './segment.ts';
import { withinVus } from './vus.ts';
import { scrapeNow, watching } from './watch.ts';

/** Built into k6; its types leave this to browsers. */
declare const console: { warn(text: string): void };

const statistics = ['min', 'med', 'p(90)', 'p(95)', 'p(99)', 'max', 'avg', 'count'];

export function optionsOf(scenarios: Readonly<Record<string, Arrivals>>, objectives: Objectives): Options {
  return {
    scenarios: { ...withinVus(scenarios, vusMax), ...(metricsUrls.length > 0 && { watch: watching }) },
    thresholds: thresholdsOf(objectives),
    summaryTrendStats: statistics,
    // Otherwise each file and socket would get a tag of its own.
    systemTags: ['scenario', 'name', 'method', 'status', 'expected_response', 'error_code'],
    setupTimeout: '60s',
    userAgent: 'scriptorium-load-test',
  };
}

/**
 * For devices that return: each has a connection of its own. A connection that is kept since an earlier iteration may end just as
 * the request goes out. The server closes a connection that is idle for 12 s. k6 then repeats no POST, and reports `EOF`.
 */
export const ownConnections: Options = { noVUConnectionReuse: true };

const baselines = new SharedArray<Report>('baseline', () =>
  baselineFile === undefined ? [] : [JSON.parse(open(baselineFile)) as Report],
);

interface Before {
  readonly beganMs: number;
  readonly server: Readonly<Record<string, number>>;
}

function gauges(): Readonly<Record<string, number>> {
  const scrape = scrapeNow();
  for (const { url, status } of scrape.unread)
    console.warn(`${url} gives no metrics: it answers ${answerName(status)}.`);
  return Object.fromEntries(seenIn(scrape, undefined).map(({ name, value }) => [name, value]));
}

/** @throws Error if a gateway does not answer, or if the thresholds are for another part of the run */
export function setup(): Before {
  expectPartOf(machines, exec.test.options.executionSegment);
  for (const url of baseUrls) {
    const { status, error } = http.get(`${url}/healthcheck`, {
      tags: { operation: 'scrape', name: 'healthcheck' },
    });
    if (status !== 200) throw new Error(`${url}/healthcheck answers ${status} ${error}`);
  }
  return { beganMs: Date.now(), server: gauges() };
}

type Files = Record<string, string>;

/** k6 calls this with all measurements once the run is over. */
export const summaryOf =
  (scenario: string) =>
  (summary: Summary & { readonly setup_data: Before }): Files => {
    const { beganMs, server } = summary.setup_data;
    const report = reportOf(summary, {
      scenario,
      profile: profileName,
      perSecond: profile.perSecond / machines,
      machines,
      durationSeconds: profile.durationSeconds,
      gateways: baseUrls.length,
      nodes: metricsUrls.length,
      beganAt: new Date(beganMs).toISOString(),
      before: server,
      after: gauges(),
    });
    const html = page(report, baselines[0]);
    if (reportPath === undefined) return { stdout: html };
    return {
      stdout: verdictText(report),
      [`${reportPath}.html`]: html,
      [`${reportPath}.json`]: `${JSON.stringify(report, undefined, 2)}\n`,
    };
  };
