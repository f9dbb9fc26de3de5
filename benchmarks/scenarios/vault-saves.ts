/**
 * Saves of one new 1 KB item each to a vault, compared with saves of the same users to their own collections. It runs without
 * sockets, and with one for every member. Each new member is announced to all members, so a large vault takes minutes to set up.
 */
import { runLoad } from '../http-load.ts';
import { type Account, caughtUp, newItem, register } from '../support/api-client.ts';
import { someAtOnce } from '../support/at-once.ts';
import { syncBytes } from '../support/requests.ts';
import { type LoadServer, tellsDelivered } from '../support/server.ts';
import { openSocket } from '../support/socket.ts';
import { admit, makeVault, vaultItem } from '../support/vaults.ts';

const connections = 16;
/** The members that save: at most as many as there are connections. */
const saversMax = 16;
const atOnce = 8;
const load = { connections, durationMs: 4_000, warmupMs: 1_000 };

export const vaultSaves = (size: number) => async (server: LoadServer) => {
  const { url } = server;
  const members = await someAtOnce(size, atOnce, () => register(url));
  const vault = await vaultOf(url, members);
  await tellsDelivered(server);
  const savers = members.slice(0, saversMax);
  const own = await saves(url, savers, newItem);
  const without = await saves(url, savers, () => vaultItem(vault));
  let frames = 0;
  const sockets = await someAtOnce(size, atOnce, (index) =>
    openSocket(url, members[index] as Account, () => {
      frames += 1;
    }),
  );
  const startedMs = performance.now();
  const withSockets = await saves(url, savers, () => vaultItem(vault));
  const framesPerSecond = (frames * 1_000) / (performance.now() - startedMs);
  for (const socket of sockets) socket.close();
  return {
    ...named(`own collections of ${savers.length}`, own),
    ...named('the vault', without),
    ...named('the vault, every member with a socket', withSockets),
    'frames/s': framesPerSecond,
  };
};

interface Saves {
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answerKb: number;
}

const named = (where: string, { rate, p50Ms, p99Ms, answerKb }: Saves) => ({
  [`${where}, saves/s`]: rate,
  [`${where}, p50 ms`]: p50Ms,
  [`${where}, p99 ms`]: p99Ms,
  [`${where}, KB of an answer`]: answerKb,
});

async function vaultOf(url: string, [owner, ...others]: readonly Account[]): Promise<string> {
  if (owner === undefined) throw new Error('a vault of nobody');
  const vault = await makeVault(url, owner);
  await someAtOnce(others.length, atOnce, (index) => admit(url, owner, vault, others[index] as Account));
  return vault;
}

/** Like clients, every sync continues from the token of the one before, and so receives what the others have saved. */
async function saves(url: string, savers: readonly Account[], item: () => object): Promise<Saves> {
  const tokens = await Promise.all(savers.map((account) => caughtUp(url, account)));
  const { hostname, port } = new URL(url);
  const of = (connection: number) => connection % savers.length;
  let answered = 0;
  const result = await runLoad({
    ...load,
    host: hostname,
    port: Number(port),
    request: (connection) => {
      const account = savers[of(connection)] as Account;
      return syncBytes(url, account, { items: [item()], sync_token: tokens[of(connection)] });
    },
    onReply: (connection, _status, body) => {
      tokens[of(connection)] = /"sync_token":"([^"]+)"/.exec(body)?.[1] ?? '';
      answered += body.length;
      if (!body.includes('"conflicts":[]')) throw new Error(`not saved: ${body.slice(0, 500)}`);
    },
  });
  if (result.statuses[200] !== result.replies) throw new Error(`answers: ${JSON.stringify(result.statuses)}`);
  const { repliesPerSecond: rate, p50Ms, p99Ms } = result;
  const seconds = (load.durationMs + load.warmupMs) / 1_000;
  return { rate, p50Ms, p99Ms, answerKb: answered / (rate * seconds) / 1_000 };
}
