/**
 * The throughput of 1, 2 and 3 nodes: as many saves and idle syncs as 48 connections make, spread over the gateways.
 */
import type { Cluster } from '../../test/cluster/cluster.ts';
import { runLoad } from '../http-load.ts';
import { type Account, newItem } from '../support/api-client.ts';
import { syncBytes } from '../support/requests.ts';
import { registerUsers } from './workers.ts';

const connections = 48;
const durationMs = 6_000;
const warmupMs = 1_500;

export async function throughput(cluster: Cluster): Promise<Record<string, number>> {
  const { gateways } = cluster;
  const accounts = await registerUsers(gateways[0] ?? '');
  // Like a client, every sync continues from the token of the one before.
  const tokens = new Map<Account, string>();
  const rate = async (items: () => object[]) => {
    const results = await Promise.all(
      gateways.map((gateway, index) => {
        const { hostname, port } = new URL(gateway);
        const share = Math.floor(connections / gateways.length);
        const accountOf = (connection: number): Account => {
          const account = accounts[(index * share + connection) % accounts.length];
          if (account === undefined) throw new Error('no such account');
          return account;
        };
        return runLoad({
          host: hostname,
          port: Number(port),
          connections: share,
          durationMs,
          warmupMs,
          request: (connection) => {
            const account = accountOf(connection);
            return syncBytes(gateway, account, { items: items(), sync_token: tokens.get(account) });
          },
          onReply: (connection, _status, body) => {
            const token = /"sync_token":"([^"]+)"/.exec(body)?.[1];
            if (token !== undefined) tokens.set(accountOf(connection), token);
          },
        });
      }),
    );
    for (const { statuses, replies } of results)
      if (statuses[200] !== replies) throw new Error(`answers: ${JSON.stringify(statuses)}`);
    return {
      perSecond: results.reduce((total, { repliesPerSecond }) => total + repliesPerSecond, 0),
      p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    };
  };
  const saves = await rate(() => [newItem()]);
  const idle = await rate(() => []);
  return {
    'saves/s': saves.perSecond,
    'p99 ms of saves': saves.p99Ms,
    'idle syncs/s': idle.perSecond,
    'p99 ms of idle syncs': idle.p99Ms,
  };
}
