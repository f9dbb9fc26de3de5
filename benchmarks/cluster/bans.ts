/**
 * How fast a ban takes effect everywhere. A user syncs without pause at every gateway, with a socket at each, while
 * an administrator at the first gateway bans them. Nothing that begins after the answer to the ban may succeed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { type Account, ask, register, signIn } from '../support/api-client.ts';
import { median } from '../support/figures.ts';
import { RawClient } from '../support/raw-client.ts';
import { syncBytes } from '../support/requests.ts';
import { openSocket } from '../support/socket.ts';

export const adminEmail = 'admin@load.test';

const times = 20;
const beforeMs = 300;
const afterMs = 1_000;
const workersOfGateway = 4;

interface Accepted {
  readonly beganMs: number;
  readonly answeredMs: number;
}

export async function bans({ gateways }: Pick<Cluster, 'gateways'>): Promise<Record<string, number>> {
  const [first] = gateways;
  if (first === undefined) throw new Error('no gateway');
  const admin = await register(first, adminEmail);
  const results: Awaited<ReturnType<typeof oneBan>>[] = [];
  for (let time = 0; time < times; time += 1) results.push(await oneBan(first, gateways, admin));
  const of = (figure: keyof (typeof results)[number]) => results.map((result) => result[figure]);
  return {
    'bans, each over gateways': gateways.length,
    'answer to a ban, ms': median(of('answeredMs')),
    'last request that was accepted began after the ban was asked for, ms, median': median(of('lastBeganMs')),
    '… at most': Math.max(...of('lastBeganMs')),
    'last answer to one, ms, at most': Math.max(...of('lastAnsweredMs')),
    'accepted though begun after the answer': of('late').reduce((sum, late) => sum + late, 0),
    'last socket closed, ms, median': median(of('socketsClosedMs')),
    '… of all, ms': Math.max(...of('socketsClosedMs')),
  };
}

async function oneBan(first: string, gateways: readonly string[], admin: Account) {
  const phone = await register(first);
  const laptop = await signIn(first, phone);
  const sockets = await Promise.all(gateways.map((gateway) => closing(gateway, laptop)));
  const accepted: Accepted[] = [];
  let isOver = false;
  const workers = gateways.flatMap((gateway) =>
    Array.from({ length: workersOfGateway }, () => syncs(gateway, phone, accepted, () => isOver)),
  );
  await pause(beforeMs);
  const askedMs = performance.now();
  await ask(first, 'PUT', `/v1/admin/users/${phone.userUuid}/ban-status`, admin, { banned: true });
  const answeredMs = performance.now();
  await pause(afterMs);
  isOver = true;
  await Promise.all(workers);
  const closedMs = await Promise.all(sockets.map(({ closedMs }) => closedMs));
  return {
    answeredMs: answeredMs - askedMs,
    lastBeganMs: Math.max(...accepted.map(({ beganMs }) => beganMs)) - askedMs,
    lastAnsweredMs: Math.max(...accepted.map((each) => each.answeredMs)) - askedMs,
    late: accepted.filter(({ beganMs }) => beganMs > answeredMs).length,
    socketsClosedMs: Math.max(...closedMs) - askedMs,
  };
}

/** Syncs one after another until it is over. A refusal does not end it. */
async function syncs(gateway: string, account: Account, accepted: Accepted[], isOver: () => boolean) {
  const client = new RawClient(gateway);
  const request = syncBytes(gateway, account, { items: [] });
  while (!isOver()) {
    const beganMs = performance.now();
    const { status } = await client.send(request);
    if (status === 200) accepted.push({ beganMs, answeredMs: performance.now() });
    else if (status !== 401) throw new Error(`a sync answered ${status}`);
  }
  client.close();
}

async function closing(gateway: string, account: Account): Promise<{ closedMs: Promise<number> }> {
  let closed = (_atMs: number) => {};
  const closedMs = new Promise<number>((resolve) => {
    closed = resolve;
  });
  await openSocket(gateway, account, undefined, () => closed(performance.now()));
  return { closedMs };
}
