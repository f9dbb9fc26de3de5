/** The server's own metrics, before, during and after. */
import { sleep } from 'k6';
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import type { Scenario } from 'k6/options';
import { parseExposition } from '../report/exposition.ts';
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

export const watching: Scenario = {
  executor: 'constant-vus',
  exec: 'watch',
  vus: 1,
  duration: `${durationSeconds}s`,
};

/** One VU looks again and again. */
const past: { scrape?: Scrape } = {};

export function watch(): void {
  const scrape = scrapeNow();
  const tags = { slice: slice() };
  for (const { name, value } of seenIn(scrape, past.scrape)) trends.get(name)?.add(value, tags);
  if (past.scrape !== undefined)
    for (const { name, value } of grownIn(scrape, past.scrape)) counters.get(name)?.add(value);
  past.scrape = scrape;
  sleep(everySeconds);
}

export function scrapeNow(): Scrape {
  const nodes = metricsUrls.flatMap((url) => {
    const tags = { operation: 'scrape', name: 'scrape' };
    const reply = http.get(url, { timeout: scrapeTimeout, tags });
    return reply.status === 200 ? [[url, parseExposition(String(reply.body))] as const] : [];
  });
  return { atMs: Date.now(), nodes: new Map(nodes) };
}
