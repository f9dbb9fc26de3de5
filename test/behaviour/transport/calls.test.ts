import test from 'ava';
import {
  FencedError,
  ForbiddenError,
  MovedError,
  NotFoundError,
  OverloadedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../../../runtime/errors.ts';
import type { AskCall, Hint } from '../../../runtime/transport/transport.ts';
import { startNatsServer } from '../../kit/nats-server.ts';
import { addressOn, call, echo, ownCluster, startProcess, until } from '../../kit/transport-process.ts';

const server = await startNatsServer({ jetStream: false });
test.after.always(() => server.stop());

test('a call of another process reaches the owner as it was made and brings back the reply', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const caller = await startProcess(t, server.url, shared);
  const request = {
    text: 'ä',
    bytes: Buffer.from([1, 2]),
    none: null,
    list: [1, { deep: true }],
    big: 2 ** 53,
  };
  const sentRequest = call(request);
  t.deepEqual(await caller.transport.ask(sentRequest), request);
  const [{ deadlineMs, ...rest } = sentRequest] = owner.seen.calls;
  const { address, callId } = sentRequest;
  t.deepEqual(rest, { address, command: 'echo', request, callId, epoch: 1 });
  t.true(deadlineMs > sentRequest.deadlineMs - 5_000 && deadlineMs < sentRequest.deadlineMs + 5_000);
});

test('a call whose shard is routed here is a call of the handler, of whatever it takes and gives', async (t) => {
  const own = await startProcess(t, server.url, { ...ownCluster(), answer: echo });
  const request = { method: () => 1 };
  t.is(await own.transport.ask(call(request)), request);
});

for (const error of [
  new TerminalError('terminal'),
  new RetryableError('none', { outcome: 'none', retryAfterMs: 7 }),
  new RetryableError('unknown', { outcome: 'unknown', retryAfterMs: 8 }),
  new FencedError('fenced'),
  new OverloadedError('overloaded', 9),
  new UnavailableError('unavailable', 10),
  new MovedError('moved'),
  new NotFoundError('not found'),
  new ForbiddenError('forbidden'),
]) {
  test(`an error of the handler arrives as the same class with the same meaning: ${error.message}`, async (t) => {
    const shared = ownCluster();
    await startProcess(t, server.url, { ...shared, answer: () => Promise.reject(error) });
    const caller = await startProcess(t, server.url, shared);
    const met = (await t.throwsAsync(caller.transport.ask(call(null)))) as Error;
    t.is(met.constructor, error.constructor);
    t.deepEqual({ ...met, message: met.message }, { ...error, message: error.message });
  });
}

test("an error that is none of the actors' arrives as terminal, without its words, and is logged at the owner", async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, {
    ...shared,
    answer: () => {
      throw new Error('the inner workings');
    },
  });
  const caller = await startProcess(t, server.url, shared);
  const error = await t.throwsAsync(caller.transport.ask(call(null)), { instanceOf: TerminalError });
  t.false(error.message.includes('inner workings'));
  t.true(owner.seen.logged.some((line) => line.includes('inner workings')));
});

test('a call to a shard that nobody serves is moved, at once', async (t) => {
  const caller = await startProcess(t, server.url, ownCluster());
  const startedMs = performance.now();
  await t.throwsAsync(caller.transport.ask(call(null)), { instanceOf: MovedError });
  t.true(performance.now() - startedMs < 2_000);
});

test('calls follow a shard from one owner to the next, and none is left without an answer', async (t) => {
  const shared = ownCluster();
  const first = await startProcess(t, server.url, { ...shared, answer: () => 'first', shards: [0] });
  const second = await startProcess(t, server.url, { ...shared, answer: () => 'second', shards: [] });
  const caller = await startProcess(t, server.url, shared);
  const outcomes: unknown[] = [];
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      const burst = Array.from({ length: 20 }, () => caller.transport.ask(call(null, { command: 'burst' })));
      for (const result of await Promise.allSettled(burst)) {
        outcomes.push(result.status === 'fulfilled' ? result.value : result.reason.constructor);
      }
    }
  })();
  await until(() => outcomes.includes('first'));
  first.transport.unroute([0]);
  await second.transport.route([0]);
  await until(() => outcomes.includes('second'));
  isDone = true;
  await asking;
  t.deepEqual(
    new Set(outcomes),
    new Set(outcomes.includes(MovedError) ? ['first', MovedError, 'second'] : ['first', 'second']),
  );
});

test('a call that its owner took along into its end is unknown as soon as another has claimed the shard', async (t) => {
  const shared = ownCluster();
  const forever = new Promise(() => {});
  const first = await startProcess(t, server.url, { ...shared, answer: () => forever, shards: [0, 1] });
  const second = await startProcess(t, server.url, { ...shared, answer: echo, shards: [] });
  const caller = await startProcess(t, server.url, shared);
  const lost = caller.transport.ask(call(1, { address: addressOn(0) }));
  let isOtherAnswered = false;
  void caller.transport
    .ask(call(2, { address: addressOn(1) }))
    .finally(() => {
      isOtherAnswered = true;
    })
    .catch(() => undefined);
  await until(() => first.seen.calls.length === 2);
  first.transport.unroute([0]);
  await second.transport.route([0]);
  second.transport.hint({ hint: 'claimed', shards: [0], host: 'second' });
  const error = (await t.throwsAsync(lost, { instanceOf: RetryableError })) as RetryableError;
  t.is(error.outcome, 'unknown');
  t.is(await caller.transport.ask(call(3, { address: addressOn(0) })), 3);
  t.false(isOtherAnswered);
});

test('a call names the claim that it is for, which the caller learns from a refusal and from hints', async (t) => {
  const shared = ownCluster();
  let claim = 7;
  const answer = ({ epoch }: AskCall) => epoch;
  const owner = await startProcess(t, server.url, { ...shared, answer, epoch: () => claim });
  const caller = await startProcess(t, server.url, shared);
  t.is(await caller.transport.ask(call(1)), 7);
  t.is(await caller.transport.ask(call(2)), 7);
  t.deepEqual(
    owner.seen.calls.map(({ epoch }) => epoch),
    [7, 7],
  );
  claim = 8;
  await t.throwsAsync(caller.transport.ask(call(3)), { instanceOf: MovedError });
  t.is(await caller.transport.ask(call(3)), 8);
  claim = 9;
  const { length } = owner.seen.calls;
  const heard: Hint[] = [];
  caller.transport.listen('gateway', { event() {}, hinted: (hint) => heard.push(hint), reconnected() {} });
  owner.transport.hint({ hint: 'claimed', shards: [0], host: 'owner', epoch: claim });
  await until(() => heard.length === 1);
  t.is(await caller.transport.ask(call(4)), 9);
  t.is(owner.seen.calls.length, length + 1);
});

test('once routing has resolved, calls of other processes come', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: echo, shards: [] });
  const caller = await startProcess(t, server.url, shared);
  for (let shard = 0; shard < 8; shard += 1) {
    await owner.transport.route([shard]);
    t.is(await caller.transport.ask(call(shard, { address: addressOn(shard) })), shard);
  }
});

test('a process that has stopped serves nothing more', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const caller = await startProcess(t, server.url, shared);
  owner.transport.stop();
  await until(() =>
    caller.transport.ask(call(1)).then(
      () => false,
      (error) => error instanceof MovedError,
    ),
  );
  t.is(owner.seen.calls.length, 0);
});

test('a call that is not answered by its deadline is of unknown outcome', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: () => new Promise(() => {}) });
  const caller = await startProcess(t, server.url, shared);
  const request = call(null, { deadlineMs: performance.now() + 1_000 });
  const error = await t.throwsAsync(caller.transport.ask(request), { instanceOf: RetryableError });
  t.is(error.outcome, 'unknown');
  t.is(owner.seen.calls.length, 1);
  t.is(caller.seen.unknownOutcomes, 1);
  t.is(caller.transport.callsInFlight, 0);
});

test('a call whose deadline has passed is not sent', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const caller = await startProcess(t, server.url, shared);
  const error = await t.throwsAsync(caller.transport.ask(call(null, { deadlineMs: 0 })), {
    instanceOf: RetryableError,
  });
  t.is(error.outcome, 'none');
  t.is(owner.seen.calls.length, 0);
});

test('clusters of other names or databases on the same broker are left alone', async (t) => {
  const one = await startProcess(t, server.url, { clusterName: 'one', answer: () => 'one' });
  await startProcess(t, server.url, { clusterName: 'two', answer: () => 'two' });
  await startProcess(t, server.url, { clusterName: 'one', databaseId: 'other', answer: () => 'other' });
  const caller = await startProcess(t, server.url, { clusterName: 'one' });
  for (let n = 0; n < 10; n += 1) t.is(await caller.transport.ask(call(n)), 'one');
  caller.transport.hint({ hint: 'nodes' });
  await until(() => one.seen.hints.length === 1);
});

test('a process with another shard count is rejected by name of what is wrong', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const caller = await startProcess(t, server.url, { ...shared, shardCount: 8 });
  const error = await t.throwsAsync(caller.transport.ask(call(null)), { instanceOf: TerminalError });
  t.regex(error.message, /8 shards .* 16/);
  t.deepEqual(owner.seen.rejected, ['shard-count']);
  t.is(owner.seen.calls.length, 0);
});
