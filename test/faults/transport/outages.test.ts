import { execFileSync, fork } from 'node:child_process';
import test, { type ExecutionContext } from 'ava';
import { type Address, shardOf } from '../../../runtime/address.ts';
import { type Clock, systemClock } from '../../../runtime/clock.ts';
import { MovedError, OverloadedError, RetryableError, UnavailableError } from '../../../runtime/errors.ts';
import { noTransportMetrics } from '../../../runtime/transport/nats/metrics.ts';
import type { AskCall } from '../../../runtime/transport/transport.ts';
import { builtFile } from '../../../tools/built-sources.js';
import { startNatsCluster, startNatsServer } from '../../kit/nats-server.ts';
import { TcpProxy } from '../../kit/tcp-proxy.ts';
import { call, echo, startProcess, type TestProcess, until } from '../../kit/transport-process.ts';

const never = () => new Promise(() => {});

/** Whether a call gets its reply now. */
const works = ({ transport }: TestProcess): Promise<boolean> =>
  transport.ask(call('hello', { deadlineMs: performance.now() + 1_000 })).then(
    (reply) => reply === 'hello',
    () => false,
  );

test('a broker that restarts: what was in flight is unknown, what comes then is unavailable, then all works', async (t) => {
  const server = await startNatsServer();
  t.teardown(() => server.stop());
  const owner = await startProcess(t, server.url, {
    answer: (pending) => (pending.command === 'never' ? never() : pending.request),
  });
  const caller = await startProcess(t, server.url, { answer: echo, shards: [1] });
  let reconnects = 0;
  caller.transport.listen('gateway', { event() {}, hinted() {}, reconnected: () => (reconnects += 1) });
  const pending = caller.transport.ask(call(null, { command: 'never' }));
  await until(() => owner.seen.calls.length === 1);

  const killedMs = performance.now();
  void server.kill();
  const error = await t.throwsAsync(pending, { instanceOf: RetryableError });
  t.is(error.outcome, 'unknown');
  t.true(error.retryAfterMs < 500);
  t.true(performance.now() - killedMs < 2_000);
  await t.throwsAsync(caller.transport.ask(call(1)), { instanceOf: UnavailableError });
  t.is(await owner.transport.ask(call('here')), 'here');
  await until(() => !caller.transport.isConnected && !owner.transport.isConnected);

  await server.start();
  await until(() => works(caller));
  await until(() => caller.transport.isConnected && owner.transport.isConnected);
  t.is(reconnects, 1);
  t.true(caller.seen.logged.some((line) => line.startsWith('connected to NATS again')));
});

test('shards that are routed while cut off are routed when that is over', async (t) => {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  const owner = await startProcess(t, server.url, { answer: echo, shards: [] });
  const caller = await startProcess(t, server.url);
  await server.kill();
  await until(() => !owner.transport.isConnected && !caller.transport.isConnected);
  let isRouted = false;
  const routing = owner.transport.route([0]).then(() => {
    isRouted = true;
  });
  const handover = owner.transport.route([1]);
  owner.transport.unroute([1]);
  await server.start();
  await routing;
  await handover;
  t.true(isRouted);
  await until(() => works(caller));
});

test('shards that are routed or unrouted while a connection comes about are so afterwards', async (t) => {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  const shardCount = 4_096;
  const owner = await startProcess(t, server.url, { answer: echo, shardCount, shards: [] });
  const other = await startProcess(t, server.url, { answer: echo, shardCount, shards: [] });
  await server.kill();
  await until(() => !owner.transport.isConnected);
  await server.start();
  const moved: number[] = [];
  // One after the other, so that some fall into every moment of the connection's making.
  while (!owner.transport.isConnected && moved.length < shardCount) {
    const shard = moved.length;
    void owner.transport.route([shard]);
    if (shard > 0 && shard % 2 === 0) owner.transport.unroute([shard - 1]);
    moved.push(shard);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => owner.transport.isConnected && other.transport.isConnected);
  await owner.transport.route([shardCount - 1]);
  const addresses = new Map<number, Address>();
  for (let id = 0; addresses.size < shardCount && id < 100_000; id += 1) {
    const address = { kind: 'user', id: `${id}` };
    addresses.set(shardOf(address, shardCount), address);
  }
  const isUnrouted = (shard: number) => shard % 2 === 1 && shard < moved.length - 1;
  const ask = (shard: number, address: Address) =>
    other.transport.ask(call(shard, { address })).catch((error) => error);
  const outcomes = await Promise.all(
    moved.map(async (shard) => {
      const address = addresses.get(shard);
      if (address === undefined) return undefined;
      const outcome = await ask(shard, address);
      // The owner may report only now that it was cut off.
      return outcome instanceof RetryableError ? ask(shard, address) : outcome;
    }),
  );
  for (const [shard, outcome] of outcomes.entries()) {
    if (isUnrouted(shard)) t.true(outcome instanceof MovedError && outcome.reachedNobody, `${shard}`);
    else t.is(outcome, shard);
  }
});

test('a cluster of brokers loses one, and the processes that were there go to another', async (t) => {
  const servers = await startNatsCluster(3);
  t.teardown(() => Promise.all(servers.map((server) => server.stop())).then(() => {}));
  const urls = servers.map(({ url }) => url);
  const owner = await startProcess(t, urls, { answer: echo });
  const caller = await startProcess(t, urls);
  await until(() => works(caller));
  for (const server of servers) {
    await server.kill();
    await until(() => works(caller));
    await server.start();
  }
  await until(() => owner.transport.isConnected && caller.transport.isConnected);
  t.true(owner.seen.disconnected.length > 0);
});

/** Time that passes ten times as slowly, so that a busy machine dials within what is a second to this clock. */
const slowClock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() / 10,
  schedule: (delayMs, fire) => systemClock.schedule(delayMs * 10, fire),
};

test('a call that comes while the broker is dialled again waits for that, and is not refused', async (t) => {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  const link = await TcpProxy.start({ port: server.port });
  t.teardown(() => link.stop());
  await startProcess(t, server.url, { answer: echo });
  const caller = await startProcess(t, `nats://127.0.0.1:${link.port}`, { clock: slowClock });
  await until(() => works(caller));
  link.cut();
  await until(() => !caller.transport.isConnected);
  link.heal();
  t.is(await caller.transport.ask(call('hello')), 'hello');
});

/** An owner whose connections are cut, but not those of the caller, who waits for an answer for as long as it takes. */
async function withLink(t: ExecutionContext, answer: (pending: AskCall, link: TcpProxy) => unknown) {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  const link = await TcpProxy.start({ port: server.port });
  t.teardown(() => link.stop());
  const owner = await startProcess(t, `nats://127.0.0.1:${link.port}`, {
    answer: (pending) => answer(pending, link),
  });
  const sent: string[] = [];
  const metrics = {
    ...noTransportMetrics,
    frame: (way: string, kind: string) => sent.push(`${way} ${kind}`),
  };
  const caller = await startProcess(t, server.url, { metrics });
  const pending = caller.transport.ask(call(null, { deadlineMs: performance.now() + 86_400_000 }));
  const cut = async () => {
    link.cut();
    await until(() => !owner.transport.isConnected);
    link.heal();
  };
  return { owner, pending, sent, cut };
}

test('a question to a process that was cut off meanwhile is not waited for, as its answer may be lost', async (t) => {
  const { owner, pending, cut } = await withLink(t, never);
  await until(() => owner.seen.calls.length === 1);
  await cut();
  const error = await t.throwsAsync(pending, { instanceOf: RetryableError });
  t.is(error.outcome, 'unknown');
  t.true(error.retryAfterMs < 500);
});

test('a large answer of a process that is cut off before it was fetched is not waited for', async (t) => {
  const { pending, sent, cut } = await withLink(t, (_, link) => {
    link.silence('to-client');
    return 'x'.repeat(200_000);
  });
  await until(() => sent.includes('out fetch'));
  const cutMs = performance.now();
  await cut();
  const error = await t.throwsAsync(pending, { instanceOf: RetryableError });
  t.is(error.outcome, 'unknown');
  // A part is lost after ten seconds.
  t.true(performance.now() - cutMs < 9_000);
});

test('a broker that no longer answers: calls end by their deadlines, and the connection is given up', async (t) => {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  const pingIntervalMs = 500;
  const owner = await startProcess(t, server.url, { answer: echo, pingIntervalMs });
  const caller = await startProcess(t, server.url, { pingIntervalMs });
  await until(() => works(caller));
  await server.pause();
  const pausedMs = performance.now();
  const error = await t.throwsAsync(caller.transport.ask(call(1, { deadlineMs: pausedMs + 300 })), {
    instanceOf: RetryableError,
  });
  t.is(error.outcome, 'unknown');
  // More than the socket takes: the end of the connection must not wait for it.
  for (let n = 0; n < 200; n += 1) {
    caller.transport.ask(call('x'.repeat(60_000), { deadlineMs: pausedMs + 60_000 })).catch(() => {});
  }
  await until(() => !caller.transport.isConnected && !owner.transport.isConnected);
  await until(() => caller.seen.disconnected.length === 2);
  const noticedMs = performance.now() - pausedMs;
  // Two pings may stay unanswered.
  t.true(noticedMs > 900 && noticedMs < 15_000, `${noticedMs}`);
  await until(() => caller.transport.callsInFlight === 0);
  await t.throwsAsync(caller.transport.ask(call(1)), { instanceOf: UnavailableError });
  server.resume();
  await until(() => caller.transport.isConnected && owner.transport.isConnected);
  await until(() => works(caller));
});

test.serial('the messages that wait for a broker that does not read are bounded', async (t) => {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  await startProcess(t, server.url, { answer: echo });
  const caller = await startProcess(t, server.url);
  await server.pause();
  const request = 'x'.repeat(60_000);
  const outcomes = await Promise.all(
    Array.from({ length: 1_500 }, () => caller.transport.ask(call(request)).catch((error) => error)),
  );
  server.resume();
  const overloaded = outcomes.filter((outcome) => outcome instanceof OverloadedError).length;
  t.true(overloaded > 200 && overloaded < 600, `${overloaded}`);
  await until(() => works(caller));
});

test('a password that is changed and changed back on the way does not end trying', async (t) => {
  const server = await startNatsServer({ config: 'authorization { user: one, password: secret }' });
  t.teardown(() => server.stop());
  const url = server.url.replace('//', '//one:secret@');
  const caller = await startProcess(t, url, { answer: echo });
  await server.kill();
  await server.start('authorization { user: one, password: other }');
  const rejections = () => caller.seen.logged.filter((line) => line.includes('refuses the credentials'));
  await until(() => rejections().length > 0);
  // Several more attempts fail the same way.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  t.true(caller.seen.logged.every((line) => !line.includes('secret')));
  await server.kill();
  await server.start();
  await until(() => caller.transport.isConnected);
});

test.serial('a process that cannot take what it is sent loses its connection, and comes back', async (t) => {
  const server = await startNatsServer({
    jetStream: false,
    config: 'max_pending: 1MB\nwrite_deadline: "100ms"',
  });
  t.teardown(() => server.stop());
  await startProcess(t, server.url, { answer: echo });
  const caller = await startProcess(t, server.url);
  // Meanwhile this process, which is also the caller, hears nothing.
  const subject = `scriptorium.test.database.reply.${caller.incarnation}.none`;
  execFileSync(process.execPath, ['-e', flood, String(server.port), subject]);
  await until(() => caller.seen.disconnected.includes('control'));
  await until(() => works(caller));
  t.deepEqual(new Set(caller.seen.disconnected), new Set(['control']));
});

/** Publishes 60 MB to a subject, as fast as the broker takes them. */
const flood = `
  const [port, subject] = process.argv.slice(1);
  const socket = require('node:net').connect(port, '127.0.0.1');
  socket.write('CONNECT {"verbose":false}\\r\\n');
  const bytes = Buffer.alloc(500_000);
  for (let n = 0; n < 120; n += 1) {
    socket.write('PUB ' + subject + ' ' + bytes.length + '\\r\\n');
    socket.write(bytes);
    socket.write('\\r\\n');
  }
  socket.write('PING\\r\\n');
  socket.on('data', (data) => String(data).includes('PONG') && process.exit());
`;

test('no listener is left with a connection that was closed by us', async (t) => {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  const owner = await startProcess(t, server.url, { answer: never });
  const caller = await startProcess(t, server.url);
  const pending = caller.transport.ask(call(1));
  await until(() => owner.seen.calls.length === 1);
  const closing = caller.transport.close(1_000);
  await t.throwsAsync(pending, { instanceOf: RetryableError });
  await closing;
  await t.throwsAsync(caller.transport.ask(call(1)), { instanceOf: UnavailableError });
  t.false(caller.transport.isConnected);
  await owner.transport.close(1_000);
  await t.throwsAsync(owner.transport.ask(call(1)), { instanceOf: UnavailableError });
  t.notThrows(() => owner.transport.hint({ hint: 'nodes' }));
});

test('closing does not wait for a broker that does not answer', async (t) => {
  const server = await startNatsServer({ jetStream: false });
  t.teardown(() => server.stop());
  const own = await startProcess(t, server.url, { answer: echo, pingIntervalMs: 60_000 });
  await server.pause();
  const startedMs = performance.now();
  await own.transport.close(300);
  t.true(performance.now() - startedMs < 2_000);
  server.resume();
});

test('a process that has closed the transport ends by itself', async (t) => {
  const server = await startNatsServer();
  t.teardown(() => server.stop());
  const child = fork(builtFile('test/faults/transport/short-life.ts'), [server.url]);
  t.is(await new Promise((resolve) => child.once('exit', resolve)), 0);
});
