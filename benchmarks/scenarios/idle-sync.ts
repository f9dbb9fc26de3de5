/** A bare uWebSockets.js reply, /healthcheck and an idle sync, one after another in one run. */
import { freePorts } from '../../test/kit/free-ports.ts';
import { requestBytes, runLoad } from '../http-load.ts';
import { newItem, register, sync } from '../support/api-client.ts';
import { startBareServer } from '../support/bare-server.ts';
import { syncBytes } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';

const load = { connections: 64, durationMs: 4_000, warmupMs: 1_500 };

export async function idleSync(server: LoadServer) {
  const account = await register(server.url);
  const { sync_token } = await sync(server.url, account, { items: [newItem()] });
  const idle = syncBytes(server.url, account, { items: [], sync_token });
  const bare = await bareReply(idle);
  const { hostname, port } = new URL(server.url);
  const target = { host: hostname, port: Number(port), pid: server.pid, ...load };
  const health = await runLoad({
    ...target,
    request: () => requestBytes('GET', new URL('/healthcheck', server.url)),
  });
  const syncs = await runLoad({ ...target, request: () => idle });
  assertAll(syncs.statuses, 200);
  return {
    'bare reply, replies/s': bare.repliesPerSecond,
    'bare reply, CPU us each': bare.cpuMicrosPerReply,
    'healthcheck, replies/s': health.repliesPerSecond,
    'healthcheck, CPU us each': health.cpuMicrosPerReply,
    'idle sync, replies/s': syncs.repliesPerSecond,
    'idle sync, CPU us each': syncs.cpuMicrosPerReply,
    'idle sync, p50 ms': syncs.p50Ms,
    'idle sync, p99 ms': syncs.p99Ms,
    'CPU of an idle sync over a bare reply': syncs.cpuMicrosPerReply / bare.cpuMicrosPerReply,
  };
}

async function bareReply(request: Buffer) {
  const [port = 0] = await freePorts(1);
  const child = await startBareServer(port);
  try {
    return await runLoad({ host: '127.0.0.1', port, pid: child.pid ?? 0, ...load, request: () => request });
  } finally {
    child.kill();
  }
}

function assertAll(statuses: Readonly<Record<number, number>>, status: number): void {
  const others = Object.keys(statuses).filter((each) => Number(each) !== status);
  if (others.length > 0) throw new Error(`unexpected answers: ${JSON.stringify(statuses)}`);
}
