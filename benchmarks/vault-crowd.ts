/**
 * The cost of one save in a vault with many members, who have many sockets each. It measures the longest slice of the server's
 * event loop, the time until the first and the last socket hear, and the bytes sent. The server is in this thread over the model
 * store, the sockets are in a separate process.
 *
 * node --import=tsx benchmarks/vault-crowd.ts [--members 100] [--sockets 100] [--saves 5]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { note } from '../test/kit/items.ts';
import { startServer } from '../test/kit/server.ts';
import { join, makeVault } from '../test/kit/vaults.ts';
import { numberOptions } from './support/options.ts';

const { members, sockets: socketsEach, saves } = numberOptions({ members: 100, sockets: 100, saves: 5 });
const sockets = members * socketsEach;
const quietMs = 500;

/**
 * Dials all sockets. After each mark it reports when the first and the last of them heard something, and how many
 * bytes.
 */
const crowd = `
  const { connect } = require('node:net');
  const now = () => performance.timeOrigin + performance.now();
  let heard = new Set(), bytes = 0, firstMs = 0, wanted = 0;
  const dial = (port, token) => new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(
      'GET /sockets?authToken=' + token + ' HTTP/1.1\\r\\nHost: a\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n' +
      'Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: BwcHBwcHBwcHBwcHBwcHBw==\\r\\n\\r\\n'));
    socket.once('data', (head) => {
      if (!String(head).startsWith('HTTP/1.1 101')) return reject(new Error(String(head)));
      socket.on('data', (data) => {
        if (heard.size === 0) firstMs = now();
        heard.add(socket);
        bytes += data.length;
        if (heard.size === wanted) process.send({ firstMs, lastMs: now(), bytes });
      });
      resolve();
    });
    socket.on('error', reject);
  });
  process.on('message', async ({ port, tokens, each }) => {
    if (tokens !== undefined) {
      for (const token of tokens) await Promise.all(Array.from({ length: each }, () => dial(port, token)));
      wanted = tokens.length * each;
    }
    [heard, bytes] = [new Set(), 0];
    process.send('ready');
  });
`;

interface Heard {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly bytes: number;
}

const t = { teardown: () => {} } as unknown as ExecutionContext;
const server = await startServer(t, { gateway: { connectionsMax: 2 * sockets + 1_000 } });
const owner = await server.device();
const vault = await makeVault(owner);
const tokens: string[] = [];
for (let at = 0; at < members; at += 1) {
  const member = await server.device(`member-${at}@example.org`);
  await join(owner, vault, member);
  tokens.push(await member.socketToken());
}

const child = spawn(process.execPath, ['-e', crowd], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
const answer = async () => (await once(child, 'message'))[0];
child.send({ port: server.port, tokens, each: socketsEach });
await answer();

const delay = monitorEventLoopDelay({ resolution: 1 });
const rows = [];
for (let at = 0; at < saves; at += 1) {
  await server.advance(10_000);
  child.send({});
  await answer();
  await sleep(quietMs);
  delay.enable();
  delay.reset();
  const savedMs = performance.timeOrigin + performance.now();
  const inVault = { shared_vault_uuid: vault, key_system_identifier: 'system' };
  const heard = answer();
  await owner.save(note({ ...inVault, uuid: crypto.randomUUID() }));
  const answeredMs = performance.timeOrigin + performance.now();
  const { firstMs, lastMs, bytes } = (await heard) as Heard;
  delay.disable();
  rows.push({
    'longest slice (ms)': round(delay.max / 1e6),
    'save answered (ms)': round(answeredMs - savedMs),
    'first socket (ms)': round(firstMs - savedMs),
    'last socket (ms)': round(lastMs - savedMs),
    'sent (KiB)': round(bytes / 1_024),
  });
}
console.log(`${members} members with ${socketsEach} sockets each`);
console.table(rows);
child.kill();
process.exit(0);

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
