import test from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { testShardCount } from '../../test/kit/host.ts';
import { SeededRandom } from '../../test/kit/random.ts';
import { shardOf } from '../address.ts';
import { NotFoundError, OverloadedError, RetryableError, TerminalError } from '../errors.ts';
import type { AskCall } from '../transport/transport.ts';
import type { BatchReply, BatchRequest } from './batch-answers.ts';
import { BatchedAsks } from './batched-asks.ts';

/** Users of one shard. */
const ids: readonly string[] = Array.from({ length: 4_000 }, (_, at) => `user ${at}`).filter(
  (id) => shardOf({ kind: 'user', id }, testShardCount) === 3,
);
const of = (count: number) => ids.slice(0, count);

/** What is asked of hosts, of which `together` answers batches and `alone` single asks. */
function start(
  together: (asks: BatchRequest['asks']) => Promise<unknown>,
  alone: (id: string) => Promise<unknown> = async (id) => `${id} alone`,
) {
  const clock = new FakeClock();
  const batches: AskCall[] = [];
  const singles: AskCall[] = [];
  const ask = (call: AskCall) => {
    if (call.command === '$askMany') {
      batches.push(call);
      return together((call.request as BatchRequest).asks);
    }
    singles.push(call);
    return alone(call.address.id);
  };
  const asks = new BatchedAsks({
    ...{ retrier: { ask }, clock, random: new SeededRandom(1), shardCount: testShardCount },
  });
  const askOne = (id: string, request: unknown = null) =>
    asks.ask({
      address: { kind: 'user', id },
      command: 'open',
      request,
      callId: `call of ${id}`,
      deadlineMs: clock.monotonicMs() + 5_000,
    });
  return { clock, batches, singles, askOne };
}

const allAnswered = async (asks: BatchRequest['asks']): Promise<BatchReply> => ({
  replies: asks.map(({ id }) => ({ value: `${id} together` })),
});

test('asks of one shard that are made together go in one message, and each is answered by its place', async (t) => {
  const { batches, singles, askOne } = start(allAnswered);
  const answers = await Promise.all(of(5).map((id) => askOne(id, { of: id })));
  t.deepEqual(
    answers,
    of(5).map((id) => `${id} together`),
  );
  t.deepEqual([batches.length, singles.length], [1, 0]);
  t.like(batches[0]?.request, {
    asks: [{ kind: 'user', command: 'open', request: { of: ids[0] }, callId: `call of ${ids[0]}` }],
  });
});

test('an ask that is alone in its shard, or comes later, is asked as ever', async (t) => {
  const { batches, singles, askOne } = start(allAnswered);
  const [first, second] = of(2) as [string, string];
  const early = askOne(first);
  await drainPromises();
  t.deepEqual(await Promise.all([early, askOne(second), askOne('user 0')]), [
    `${first} alone`,
    `${second} alone`,
    'user 0 alone',
  ]);
  t.deepEqual([batches.length, singles.length], [0, 3]);
});

test('a batch is bounded in its number and in its bytes', async (t) => {
  const { batches, askOne } = start(allAnswered);
  await Promise.all(of(130).map((id) => askOne(id)));
  const sizes = () => batches.map(({ request }) => (request as BatchRequest).asks.length);
  t.deepEqual(sizes(), [64, 64, 2]);
  batches.length = 0;
  await Promise.all(of(8).map((id) => askOne(id, 'x'.repeat(10_000))));
  t.deepEqual(sizes(), [3, 3, 2]);
});

test('an ask without a reply in its place is repeated alone, as the same call', async (t) => {
  const { clock, singles, askOne } = start(
    async (asks) => ({ replies: asks.map(({ id }, index) => (index % 2 === 0 ? { value: id } : null)) }),
    async (id) => {
      if (id === ids[3]) throw new NotFoundError('this actor is no more');
      return `${id} alone`;
    },
  );
  const answers = await Promise.allSettled(of(4).map((id) => askOne(id)));
  t.like(answers, [{ value: ids[0] }, { value: `${ids[1]} alone` }, { value: ids[2] }]);
  t.true((answers[3] as PromiseRejectedResult).reason instanceof NotFoundError);
  t.like(singles[0], { callId: `call of ${ids[1]}`, deadlineMs: clock.monotonicMs() + 5_000 });
});

for (const [what, together] of [
  ['a host of an earlier release', () => Promise.reject(new TerminalError('unknown command user.$askMany'))],
  ['an answer that does not fit', async () => ({ replies: 'none' })],
  ['an answer with too few replies', async () => ({ replies: [] })],
] as const) {
  test(`all are asked alone, a bounded number at once, after ${what}`, async (t) => {
    let inFlight = 0;
    let most = 0;
    const { clock, askOne } = start(together, async (id) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise<void>((resolve) => clock.schedule(10, resolve));
      inFlight -= 1;
      return id;
    });
    const answers = Promise.all(of(200).map((id) => askOne(id)));
    await clock.advance(100);
    t.deepEqual(await answers, of(200));
    t.is(most, 64);
  });
}

test('a batch that is lost leaves time to ask alone', async (t) => {
  let cut = (_error: Error) => {};
  const { clock, batches, askOne } = start(
    () =>
      new Promise((_, reject) => {
        cut = reject;
      }),
  );
  const answers = Promise.all(of(2).map((id) => askOne(id)));
  await drainPromises();
  t.is(batches[0]?.deadlineMs, 2_000);
  await clock.advance(2_000);
  cut(new RetryableError('the call was not answered', { outcome: 'unknown' }));
  t.deepEqual(
    await answers,
    of(2).map((id) => `${id} alone`),
  );
});

test('a host that is overloaded is not asked again', async (t) => {
  const { singles, askOne } = start(() => Promise.reject(new OverloadedError('too many calls')));
  const answers = await Promise.allSettled(of(3).map((id) => askOne(id)));
  t.true(answers.every((each) => each.status === 'rejected' && each.reason instanceof OverloadedError));
  t.is(singles.length, 0);
});
