/** The server's own metrics, before, during and after. */
import { sleep } from 'k6';
import http from 'k6/http';
import { Counter, Rate, Trend } from 'k6/metrics';
import type { Scenario } from 'k6/options';
import { answerName } from '../report/answers.ts';
import { type Exposition, parseExposition } from '../report/exposition.ts';
import { grownIn, type Scrape, seenIn } from '../report/observe.ts';
import { counted, observed } from '../report/observed.ts';
import { sliceCount } from '../report/slices.ts';
import { metricsUrls, profile } from './environment.ts';
import { slice } from './slice.ts';

const { durationSeconds } = profile;
const everySeconds = Math.max(1, durationSeconds / sliceCount / 2);
const scrapeTimeout = '5s';

const trends = new Map(observed.map(({ name }) => [name, new Trend(name)]));
const counters = new Map(counted.map(({ name }) => [name, new Counter(name)]));
/** The scrapes of nodes that found no metrics. */
const unread = new Rate('metrics_unread');

export const watching: Scenario = {
  executor: 'constant-vus',
  exec: 'watch',
  vus: 1,
  duration: `${durationSeconds}s`,
};

/** The last scrape of the one VU that scrapes. */
const past: { scrape?: Scrape } = {};

export function watch(): void {
  const scrape = scrapeNow();
  const tags = { slice: slice() };
  for (const { status } of scrape.unread) unread.add(true, { answer: answerName(status) });
  for (const _ of scrape.nodes) unread.add(false);
  for (const { name, value } of seenIn(scrape, past.scrape)) trends.get(name)?.add(value, tags);
  if (past.scrape !== undefined)
    for (const { name, value } of grownIn(scrape, past.scrape)) counters.get(name)?.add(value);
  past.scrape = scrape;
  sleep(everySeconds);
}

export function scrapeNow(): Scrape {
  const nodes = new Map<string, Exposition>();
  const missing: { url: string; status: number }[] = [];
  for (const url of metricsUrls) {
    const tags = { operation: 'scrape', name: 'scrape' };
    const { status, body } = http.get(url, { timeout: scrapeTimeout, tags });
    if (status === 200) nodes.set(url, parseExposition(String(body)));
    else missing.push({ url, status });
  }
  return { atMs: Date.now(), nodes, unread: missing };
}
