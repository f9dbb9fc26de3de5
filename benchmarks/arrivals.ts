/**
 * A crowd of clients dials at once at a server that does nothing for them (`support/bare-reply.ts`), beside a few syncs: what of
 * a redial storm is the kernel's, the library's and the clients' own cost on this machine. Compare with
 * `sockets.ts --lane --at-once`, whose clients and syncs are the same.
 *
 * node --import=tsx benchmarks/arrivals.ts [--sockets 19000] [--runs 3]
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '../test/kit/free-ports.ts';
import { Clients } from './sockets/clients.ts';
import { startBareServer } from './support/bare-server.ts';
import { medians, printFigures } from './support/figures.ts';
import { numberOptions } from './support/options.ts';
import { RawClient } from './support/raw-client.ts';
import { syncBytes } from './support/requests.ts';
import { SteadyLoad, summary, syncFigures } from './support/steady-load.ts';

const { sockets, runs } = numberOptions({ sockets: 19_000, runs: 3 });
const openMs = 120_000;
const usualMs = 20_000;
const syncsPerSecond = 50;

async function measure(): Promise<Record<string, number>> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const first = await startBareServer(port);
  const clients = new Clients(true);
  const device = { url, elsewhere: url, accessToken: 'x'.repeat(100) };
  await clients.open(Array<typeof device>(sockets).fill(device), openMs);
  const client = new RawClient(url);
  const bytes = syncBytes(url, { email: '', password: '', userUuid: '', accessToken: 'x'.repeat(100) }, {});
  const syncs = new SteadyLoad({
    ratePerSecond: syncsPerSecond,
    request: async () => (await client.send(bytes)).status,
  });
  await pause(usualMs);
  const beganMs = syncs.nowMs;
  first.kill('SIGKILL');
  await once(first, 'exit');
  const second = await startBareServer(port);
  const listeningMs = syncs.nowMs;
  await clients.untilOpen(openMs);
  const openAgainMs = syncs.nowMs;
  await syncs.stop();
  client.close();
  clients.stop();
  second.kill('SIGKILL');
  const usual = summary(syncs.samples, 1_000, beganMs - 100);
  const during = summary(syncs.samples, listeningMs, openAgainMs);
  return {
    'ms until every socket was open': openAgainMs - listeningMs,
    ...syncFigures(usual, during),
    'syncs meanwhile': during.requests,
  };
}

printFigures(`${sockets} clients of a server that does nothing dial again`, await medians(runs, measure));
