/**
 * How long the users of a dead process wait. Each saves without a pause through the live gateways. The wait ends when
 * a save is acknowledged that was open at the death or sent after it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { shardOf } from '../../runtime/address.ts';
import { type Account, register, signIn } from '../../test/cluster/account.ts';
import { Client } from '../../test/cluster/client.ts';
import type { Cluster } from '../../test/cluster/cluster.ts';
import type { ClusterNode } from '../../test/cluster/node.ts';
import { Tally } from '../../test/cluster/tally.ts';
import { headerSessions } from '../../test/kit/account.ts';
import { note } from '../../test/kit/items.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { until } from '../../test/kit/until.ts';
import { quantile } from '../support/figures.ts';

const usersCount = 36;
const deaths = 6;
/** Longer than a request may take at the server: a request without an answer has failed. */
const timeoutMs = 30_000;
const savePauseMs = 200;
const settleMs = 2_000;
const shardCount = 1_024;

interface User {
  readonly account: Account;
  readonly token: string;
}

interface Save {
  readonly user: User;
  readonly endedMs: number;
  readonly status: number;
}

export const processTakeOver = (cluster: Cluster) => takeOvers(cluster, (node) => node.killServer());
export const machineTakeOver = (cluster: Cluster) => takeOvers(cluster, (node) => node.kill());

async function takeOvers(
  cluster: Cluster,
  end: (node: ClusterNode) => Promise<void>,
): Promise<Record<string, number>> {
  await settled(cluster);
  const users = await usersOf(cluster);
  const waits: number[] = [];
  let failed = 0;
  let saves = 0;
  for (let death = 0; death < deaths; death += 1) {
    const node = cluster.nodes[death % cluster.nodes.length] as ClusterNode;
    const staying = cluster.nodes.filter((other) => other !== node).map(({ url }) => url);
    const load = new Load(users, staying);
    await pause(settleMs);
    const orphans = await usersAt(cluster, node.id, users);
    const diedMs = performance.now();
    const ended = end(node);
    waits.push(...(await Promise.all(orphans.map(async (user) => (await load.nextSave(user)) - diedMs))));
    await ended;
    const done = await load.stop();
    saves += done.length;
    failed += done.filter(({ status }) => status !== 200).length;
    await node.start();
    await settled(cluster);
  }
  return {
    'users of dead processes': waits.length,
    'ms to the first acknowledged save, p50': quantile(waits, 0.5),
    '… p99': quantile(waits, 0.99),
    '… longest': Math.max(...waits),
    saves,
    'saves that failed': failed,
  };
}

/** Every user saves again and again. */
class Load {
  readonly #gateways: readonly string[];
  readonly #saves: Save[] = [];
  readonly #waiting = new Map<User, (endedMs: number) => void>();
  readonly #running: Promise<unknown>;
  #isOver = false;

  constructor(users: readonly User[], gateways: readonly string[]) {
    this.#gateways = gateways;
    this.#running = Promise.all(users.map((user, index) => this.#live(user, index)));
  }

  /** When the next save of this user is acknowledged. */
  nextSave(user: User): Promise<number> {
    return new Promise((resolve) => this.#waiting.set(user, resolve));
  }

  async stop(): Promise<readonly Save[]> {
    this.#isOver = true;
    await this.#running;
    return this.#saves;
  }

  async #live(user: User, index: number): Promise<void> {
    while (!this.#isOver) {
      const status = await save(this.#gateways[index % this.#gateways.length] ?? '', user);
      const endedMs = performance.now();
      this.#saves.push({ user, endedMs, status });
      if (status === 200) this.#waiting.get(user)?.(endedMs);
      await pause(savePauseMs);
    }
  }
}

/** Sends once, without a retry: 0 if there was no answer. */
async function save(gateway: string, { token }: User): Promise<number> {
  try {
    const response = await fetch(`${gateway}/v1/items`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ api: headerSessions, items: [note({ uuid: randomUUID() })] }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

async function usersOf({ gateways }: Cluster): Promise<readonly User[]> {
  const users: User[] = [];
  for (let each = 0; each < usersCount; each += 1) {
    const client = new Client({
      who: 'user',
      gateways,
      preferred: each,
      random: new SeededRandom(each),
      tally: new Tally(),
      timeoutMs,
      pauseMaxMs: savePauseMs,
      isOver: () => false,
    });
    const account = await register(client);
    users.push({ account, token: await signIn(client, account) });
  }
  return users;
}

/** Users whose actor is at this node. */
async function usersAt(
  { database }: Cluster,
  node: string,
  users: readonly User[],
): Promise<readonly User[]> {
  const rows = await database.query(`SELECT shard FROM shard WHERE node = '${node}'`);
  const shards = new Set(rows.map(({ shard }) => Number(shard)));
  return users.filter(({ account }) =>
    shards.has(shardOf({ kind: 'user', id: account.userUuid }, shardCount)),
  );
}

/** Resolves once every node has its share of the shards. */
async function settled(cluster: Cluster): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const shares = await Promise.all(
      cluster.nodes.map(async (node) => (await node.metric('scriptorium_shards')) ?? 0),
    );
    return shares.every((share) => share > 0) && shares.reduce((sum, share) => sum + share, 0) === shardCount;
  };
  await until(isSettled, 6 * cluster.leaseMs);
}
