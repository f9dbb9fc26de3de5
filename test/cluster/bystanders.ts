/**
 * Users who sync again and again while a node is cut off from the database. They ask the other nodes. As soon as the
 * database names one of those as the host of a user, that user must not notice the cut.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { shardOf } from '../../runtime/address.ts';
import { headerSessions } from '../kit/account.ts';
import { SeededRandom } from '../kit/random.ts';
import { register, signIn } from './account.ts';
import { Client } from './client.ts';
import type { Cluster } from './cluster.ts';
import type { History } from './history.ts';
import type { ClusterNode } from './node.ts';
import { Tally } from './tally.ts';

export interface Bystander {
  readonly userUuid: string;
  readonly token: string;
}

/** Enough for some to live on each of three nodes. */
const usersCount = 12;
const syncPauseMs = 250;
const placesPauseMs = 200;
/** Longer than a request may take at the server. */
const timeoutMs = 30_000;
const retryPauseMaxMs = 1_000;
const shardCount = 1_024;

export class Bystanders {
  readonly #users: readonly Bystander[];

  private constructor(users: readonly Bystander[]) {
    this.#users = users;
  }

  static async open(gateways: readonly string[], count = usersCount): Promise<Bystanders> {
    const users: Bystander[] = [];
    for (let each = 0; each < count; each += 1) {
      const client = clientOf(gateways, each);
      const account = await register(client);
      users.push({ userUuid: account.userUuid, token: await signIn(client, account) });
    }
    return new Bystanders(users);
  }

  /** Records the syncs, and whose host the database says is another node, until `ended` resolves. */
  async watch(cluster: Cluster, cut: ClusterNode, history: History, ended: Promise<unknown>): Promise<void> {
    const gateways = cluster.nodes.filter((node) => node !== cut).map(({ url }) => url);
    let isOver = false;
    const again = async (pauseMs: number, work: (turn: number) => Promise<void>): Promise<void> => {
      for (let turn = 0; !isOver; turn += 1) {
        await work(turn);
        await pause(pauseMs);
      }
    };
    const places = again(placesPauseMs, async () => {
      history.add({
        event: 'cut-off',
        node: cut.id,
        others: await usersOfOtherHosts(cluster, cut, this.#users),
      });
    });
    const syncs = this.#users.map(({ userUuid: user, token }, index) =>
      again(syncPauseMs, async (turn) => {
        const sentMs = performance.now();
        const status = await sync(gateways[(index + turn) % gateways.length] ?? '', token);
        history.add({ event: 'synced', user, status, tookMs: Math.round(performance.now() - sentMs) });
      }),
    );
    const over = ended.then(() => {
      isOver = true;
      history.add({ event: 'healed', node: cut.id });
    });
    await Promise.all([over, places, ...syncs]);
  }
}

function clientOf(gateways: readonly string[], preferred: number): Client {
  const random = new SeededRandom(preferred);
  const times = { timeoutMs, pauseMaxMs: retryPauseMaxMs, isOver: () => false };
  return new Client({ who: 'bystander', gateways, preferred, random, tally: new Tally(), ...times });
}

async function usersOfOtherHosts(
  { database }: Cluster,
  cut: ClusterNode,
  users: readonly Bystander[],
): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT shard.shard FROM shard JOIN node ON node.incarnation = shard.incarnation WHERE node.id <> '${cut.id}'`,
  );
  const shards = new Set(rows.map(({ shard }) => Number(shard)));
  return users
    .map(({ userUuid }) => userUuid)
    .filter((id) => shards.has(shardOf({ kind: 'user', id }, shardCount)));
}

/** Sends once, without a retry: 0 if there was no answer. */
async function sync(gateway: string, token: string): Promise<number> {
  try {
    const response = await fetch(`${gateway}/v1/items`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ api: headerSessions, items: [] }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
