/** What all load tests have in common: their options, what is seen of the server before them, and the report after them. */
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

/** Of k6, whose types leave it to browsers. */
declare const console: { warn(text: string): void };

const statistics = ['min', 'med', 'p(90)', 'p(95)', 'p(99)', 'max', 'avg', 'count'];

export function optionsOf(scenarios: Readonly<Record<string, Arrivals>>, objectives: Objectives): Options {
  return {
    scenarios: { ...withinVus(scenarios, vusMax), ...(metricsUrls.length > 0 && { watch: watching }) },
    thresholds: thresholdsOf(objectives),
    summaryTrendStats: statistics,
    // Addresses would be a tag of their own for each file and socket.
    systemTags: ['scenario', 'name', 'method', 'status', 'expected_response', 'error_code'],
    setupTimeout: '60s',
    userAgent: 'scriptorium-load-test',
  };
}

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

/** @throws Error where a gateway does not answer, as there is nothing to load, or where this is another part of the run than its thresholds are for */
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

/** What k6 calls with everything that it has measured, once all is over. */
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
