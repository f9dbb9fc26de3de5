/**
 * Reminders by e-mail at the built server, with aiosmtpd as its relay on loopback: very many due at once, and their
 * effect on syncs. It also measures the time from due to SMTP for single ones, and the same with the server killed
 * (-9) half-way.
 *
 * npm run build && node --import=tsx benchmarks/reminders.ts [--reminders 10000] [--accounts 100] [--syncers 8]
 *       [--lead 60] [--single 100]
 */
import { randomUUID } from 'node:crypto';
import { startSmtpServer } from '../test/kit/smtp-server.ts';
import { type Account, ask, register } from './support/api-client.ts';
import { printFigures, quantile } from './support/figures.ts';
import { numberOptions } from './support/options.ts';
import { startBuiltServer } from './support/server.ts';

const options = numberOptions({
  reminders: 10_000,
  accounts: 100,
  syncers: 8,
  /** Seconds for making all of them. */
  lead: 60,
  /** Those that are due one after another. */
  single: 100,
});
const leadMs = options.lead * 1_000;
const calmMs = 5_000;
/** Concurrent requests that make reminders. */
const makersMax = 8;
/** Between two that are due one after another. */
const singlePauseMs = 200;
/** The wait for mails ends after this long. */
const patienceMs = 600_000;

const endings: (() => unknown)[] = [];
const relay = await startSmtpServer({ teardown: (end) => void endings.push(end) });
let server = await startBuiltServer({
  SMTP_HOST: '127.0.0.1',
  SMTP_PORT: String(relay.port),
  SMTP_FROM: 'notes@load.test',
  EMAIL_REMINDERS_ENABLED: 'true',
  MAX_EMAIL_REMINDERS_PER_USER: '1000',
});
try {
  const accounts: Account[] = [];
  for (let count = 0; count < options.accounts; count += 1) {
    const account = await register(server.url);
    const body = { name: 'EMAIL_REMINDERS_ENABLED', value: 'true' };
    await ask(server.url, 'PUT', `/v1/users/${account.userUuid}/settings`, account, body);
    accounts.push(account);
  }
  await allAtOnce(accounts);
  await oneByOne(accounts, 'due one after another', async () => {});
  await oneByOne(accounts, 'likewise, and the server is killed (-9) half-way', async () => {
    server = await server.restart();
  });
} finally {
  await server.stop();
  for (const end of endings) await end();
}
process.exit(0);

async function remind(account: Account, dueAt: number): Promise<string> {
  const message = randomUUID();
  await ask(server.url, 'POST', '/v1/email-reminders', account, { dueAt, message });
  return message;
}

async function allAtOnce(accounts: readonly Account[]): Promise<void> {
  const count = options.reminders;
  const dueMs = Date.now() + leadMs;
  const names: string[] = [];
  const makers = Array.from({ length: makersMax }, async (_, maker) => {
    for (let at = maker; at < count; at += makersMax) {
      const account = accounts[at % accounts.length];
      if (account !== undefined) names.push(await remind(account, dueMs));
    }
  });
  await Promise.all(makers);
  if (Date.now() > dueMs - calmMs)
    throw new Error('there was not enough time to make them: give more --lead');
  await until(() => Date.now() >= dueMs - calmMs);
  const syncs = syncing(accounts.slice(0, options.syncers));
  await until(() => arrivals(names).length >= count, patienceMs);
  const lastMs = Math.max(...arrivals(names));
  const took = await syncs.stop();
  const between = (fromMs: number, toMs: number) =>
    took.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ tookMs }) => tookMs);
  printFigures(`${count} reminders of ${accounts.length} accounts due at once`, {
    'that came': new Set(namesOf(names)).size,
    'that came twice': arrivals(names).length - new Set(namesOf(names)).size,
    's until the last has come': (lastMs - dueMs) / 1_000,
    'mails/s': (arrivals(names).length * 1_000) / (lastMs - dueMs),
    'p50 ms of syncs before': quantile(between(0, dueMs), 0.5),
    'p99 ms of syncs before': quantile(between(0, dueMs), 0.99),
    'p50 ms of syncs beside them': quantile(between(dueMs, lastMs), 0.5),
    'p99 ms of syncs beside them': quantile(between(dueMs, lastMs), 0.99),
  });
}

async function oneByOne(accounts: readonly Account[], what: string, halfWay: () => Promise<void>) {
  const count = options.single;
  const firstMs = Date.now() + 15_000;
  const dues = new Map<string, number>();
  for (let at = 0; at < count; at += 1) {
    const dueMs = firstMs + at * singlePauseMs;
    const account = accounts[at % accounts.length];
    if (account !== undefined) dues.set(await remind(account, dueMs), dueMs);
  }
  const names = [...dues.keys()];
  await until(() => Date.now() > firstMs + (count * singlePauseMs) / 2, patienceMs);
  await halfWay();
  await until(() => new Set(namesOf(names)).size >= count, patienceMs);
  const first = new Map<string, number>();
  for (const { name, atMs } of received()) if (!first.has(name)) first.set(name, atMs);
  const tookMs = names.map((name) => (first.get(name) ?? Number.NaN) - (dues.get(name) ?? 0));
  printFigures(`${count} reminders ${what}`, {
    'that came twice': arrivals(names).length - count,
    'p50 ms from due to SMTP': quantile(tookMs, 0.5),
    'p99 ms from due to SMTP': quantile(tookMs, 0.99),
    'most ms from due to SMTP': Math.max(...tookMs),
  });
}

/** Idle syncs of each account, one after another. */
function syncing(accounts: readonly Account[]) {
  const took: { readonly atMs: number; readonly tookMs: number }[] = [];
  let isOver = false;
  const callers = accounts.map(async (account) => {
    while (!isOver) {
      const atMs = Date.now();
      const startedMs = performance.now();
      await ask(server.url, 'POST', '/v1/items', account, { api: '20200115', items: [] });
      took.push({ atMs, tookMs: performance.now() - startedMs });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(callers);
      return took;
    },
  };
}

/** The name of the reminder in each mail that has come. */
function received() {
  return relay.received.map(({ text, atMs }) => {
    return { name: /^Subject: Reminder: (\S+)/m.exec(text)?.[1] ?? '', atMs };
  });
}

function arrived(names: readonly string[]) {
  const expected = new Set(names);
  return received().filter(({ name }) => expected.has(name));
}

function arrivals(names: readonly string[]): readonly number[] {
  return arrived(names).map(({ atMs }) => atMs);
}

function namesOf(names: readonly string[]): readonly string[] {
  return arrived(names).map(({ name }) => name);
}

async function until(condition: () => boolean, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
  const untilMs = performance.now() + withinMs;
  while (!condition() && performance.now() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, 500));
}
