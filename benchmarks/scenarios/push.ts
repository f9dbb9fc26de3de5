/**
 * The time from a save on one device to the frames at the other device's socket. The server runs at half of its maximum
 * rate of saves. It measures own items, to another session of the user, and items of a vault, to another
 * member. With several gateways, saves arrive at the first, and the sockets are at the last.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from '../http-load.ts';
import { type Account, newItem, register, signIn } from '../support/api-client.ts';
import { someAtOnce } from '../support/at-once.ts';
import { median, quantile } from '../support/figures.ts';
import { RawClient } from '../support/raw-client.ts';
import { syncBytes } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';
import { openSocket } from '../support/socket.ts';
import { SteadyLoad, summary } from '../support/steady-load.ts';
import { admit, makeVault, vaultItem } from '../support/vaults.ts';

const loadUsers = 32;
const probers = 16;
const atOnce = 8;
const full = { connections: 64, durationMs: 4_000, warmupMs: 1_000 };
const measuredMs = 15_000;
/** Longer than the pause after a frame of a vault, so that every save is announced at once. */
const afterFrameMs = 300;
const probeMs = 400;
const lostAfterMs = 5_000;

export const push = ({ url }: LoadServer) => pushOver([url]);

export async function pushOver(gateways: readonly string[]): Promise<Record<string, number>> {
  const [first, last] = [gateways[0], gateways.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no gateway');
  const busy = await someAtOnce(loadUsers, atOnce, () => register(first));
  const own = await someAtOnce(probers, atOnce, () => ownProbe(first, last));
  const shared = await someAtOnce(probers, atOnce, () => vaultProbe(first, last));
  const fullRate = await savesPerSecond(gateways, busy);
  const idle = await probed(own, shared);
  const load = startLoad(gateways, busy, fullRate / 2);
  const loaded = await probed(own, shared);
  await load.stop();
  for (const probe of [...own, ...shared]) probe.close();
  const saves = summary(load.samples, 0, Number.POSITIVE_INFINITY);
  return {
    'saves/s at full load': fullRate,
    'saves/s beside the pushes': (saves.requests * 1_000) / measuredMs,
    'of them failed': saves.failed,
    'p99 ms of them': saves.p99Ms,
    ...named('without load', idle),
    ...named('at half load', loaded),
  };
}

interface Probe {
  /** Saves, and returns how long its frame took to the other device; undefined if it never arrived. */
  push(): Promise<number | undefined>;
  close(): void;
}

async function ownProbe(first: string, last: string): Promise<Probe> {
  const phone = await register(first);
  const laptop = await signIn(first, phone);
  return probe({ from: phone, gateway: first, item: newItem, to: laptop, toGateway: last });
}

async function vaultProbe(first: string, last: string): Promise<Probe> {
  const [owner, member] = await Promise.all([register(first), register(first)]);
  const vault = await makeVault(first, owner);
  await admit(first, owner, vault, member);
  return probe({ from: owner, gateway: first, item: () => vaultItem(vault), to: member, toGateway: last });
}

interface Path {
  readonly from: Account;
  readonly gateway: string;
  readonly item: () => object;
  readonly to: Account;
  readonly toGateway: string;
}

async function probe({ from, gateway, item, to, toGateway }: Path): Promise<Probe> {
  const client = new RawClient(gateway);
  let token: string | undefined;
  let heard: () => void = () => {};
  const socket = await openSocket(toGateway, to, (text) => {
    if (text.includes('"ITEMS_CHANGED_ON_SERVER"')) heard();
  });
  const save = async () => {
    const { status, body } = await client.send(
      syncBytes(gateway, from, { items: [item()], sync_token: token }),
    );
    if (status !== 200 || !body.includes('"conflicts":[]')) throw new Error(`not saved: ${status} ${body}`);
    token = /"sync_token":"([^"]+)"/.exec(body)?.[1];
  };
  return {
    push() {
      const startedMs = performance.now();
      const frame = new Promise<number | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), lostAfterMs);
        heard = () => {
          clearTimeout(timer);
          resolve(performance.now() - startedMs);
        };
      });
      return save().then(() => frame);
    },
    close() {
      socket.close();
      client.close();
    },
  };
}

async function probed(own: readonly Probe[], shared: readonly Probe[]) {
  const untilMs = performance.now() + measuredMs;
  const timesOf = async (probes: readonly Probe[]) => {
    const each = probes.map(async (one, index) => {
      const times: (number | undefined)[] = [];
      await pause((index * probeMs) / probes.length);
      while (performance.now() < untilMs) {
        const nextMs = performance.now() + probeMs;
        times.push(await one.push());
        await pause(Math.max(afterFrameMs, nextMs - performance.now()));
      }
      return times;
    });
    return (await Promise.all(each)).flat();
  };
  const [ofOwn, ofVaults] = await Promise.all([timesOf(own), timesOf(shared)]);
  return { 'own item': ofOwn, 'item of a vault': ofVaults };
}

function named(when: string, kinds: Readonly<Record<string, readonly (number | undefined)[]>>) {
  const figures: Record<string, number> = {};
  for (const [kind, times] of Object.entries(kinds)) {
    const came = times.filter((time) => time !== undefined);
    figures[`${kind} ${when}, pushes`] = came.length;
    figures[`${kind} ${when}, never came`] = times.length - came.length;
    figures[`${kind} ${when}, p50 ms`] = median(came);
    figures[`${kind} ${when}, p99 ms`] = quantile(came, 0.99);
  }
  return figures;
}

/** The saves of all connections together, as many at each gateway. */
async function savesPerSecond(gateways: readonly string[], accounts: readonly Account[]): Promise<number> {
  const rates = gateways.map(async (gateway, index) => {
    const { hostname, port } = new URL(gateway);
    const { repliesPerSecond, statuses, replies } = await runLoad({
      ...full,
      connections: Math.floor(full.connections / gateways.length),
      host: hostname,
      port: Number(port),
      request: (connection) => saveOf(gateway, accounts, connection * gateways.length + index),
    });
    if (statuses[200] !== replies) throw new Error(`answers: ${JSON.stringify(statuses)}`);
    return repliesPerSecond;
  });
  return (await Promise.all(rates)).reduce((total, rate) => total + rate, 0);
}

function startLoad(
  gateways: readonly string[],
  accounts: readonly Account[],
  ratePerSecond: number,
): SteadyLoad {
  const clients = gateways.map((gateway) => ({ gateway, client: new RawClient(gateway) }));
  const next = (index: number) => clients[index % clients.length] as (typeof clients)[number];
  return new SteadyLoad({
    ratePerSecond,
    request: async (index) => {
      const { gateway, client } = next(index);
      return (await client.send(saveOf(gateway, accounts, index))).status;
    },
  });
}

/** Each gets its one oldest item, so that answers do not grow with earlier saves. */
const saveOf = (gateway: string, accounts: readonly Account[], index: number): Buffer =>
  syncBytes(gateway, accounts[index % accounts.length] as Account, { items: [newItem()], limit: 1 });
