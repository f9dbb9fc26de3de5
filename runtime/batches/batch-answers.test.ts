import test from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { UnavailableError } from '../errors.ts';
import type { AskCall } from '../transport/transport.ts';
import { BatchAnswers } from './batch-answers.ts';

function start(ask: (call: AskCall, clock: FakeClock) => Promise<unknown>) {
  const clock = new FakeClock();
  const requests: AskCall[] = [];
  const answers = new BatchAnswers({
    clock,
    ask: (call) => {
      requests.push(call);
      return ask(call, clock);
    },
  });
  const answer = (count: number, command = 'open') => {
    const asks = Array.from({ length: count }, (_, at) => ({
      ...{ kind: 'user', id: `${at}`, command, request: { at }, callId: `call ${at}` },
    }));
    return answers.answer({ asks }, clock.monotonicMs() + 2_000);
  };
  return { clock, requests, answer };
}

const never = () => new Promise<never>(() => {});

test('every ask is carried out as if it had come alone, and one that fails leaves its place empty', async (t) => {
  const { requests, answer } = start(async ({ address }) => {
    if (address.id === '1') throw new UnavailableError('not now');
    return `reply of ${address.id}`;
  });
  const { replies } = await answer(3);
  t.deepEqual(replies, [{ value: 'reply of 0' }, null, { value: 'reply of 2' }]);
  t.deepEqual(requests[2], {
    address: { kind: 'user', id: '2' },
    ...{ command: 'open', request: { at: 2 }, callId: 'call 2', deadlineMs: 2_000 },
  });
});

test('an actor that is slow delays the others by a second at most', async (t) => {
  const { clock, answer } = start(({ address }) => (address.id === '0' ? never() : Promise.resolve('reply')));
  const answered = answer(2);
  await clock.advance(1_000);
  t.deepEqual((await answered).replies, [null, { value: 'reply' }]);
});

test('a bounded number of asks of all batches runs at once, and none begins once its batch was answered', async (t) => {
  const { clock, requests, answer } = start(
    (_call, clock) => new Promise((resolve) => clock.schedule(1_500, () => resolve('late'))),
  );
  const first = answer(30);
  const second = answer(30);
  await drainPromises();
  t.is(requests.length, 32);
  await clock.advance(3_000);
  t.is(requests.length, 32);
  t.true([...(await first).replies, ...(await second).replies].every((reply) => reply === null));
});

test('replies beyond the bytes of an answer are left to single asks', async (t) => {
  const { answer } = start(async () => 'x'.repeat(100_000));
  t.is((await answer(5)).replies.filter((reply) => reply !== null).length, 2);
});

test('a command of the host itself is not carried out in a batch', async (t) => {
  const { requests, answer } = start(async () => 'reply');
  t.deepEqual([(await answer(1, '$askMany')).replies, requests.length], [[null], 0]);
});
