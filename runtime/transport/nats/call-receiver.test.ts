/** What a process refuses without its handler. Calls are answered in `test/behaviour/transport/calls.test.ts`. */
import test from 'ava';
import { drainPromises, FakeClock } from '../../../test/kit/clock.ts';
import { NotFoundError } from '../../errors.ts';
import { silentLogger } from '../../ports.ts';
import { CallReceiver } from './call-receiver.ts';
import { decodeFrame, encodeFrame, type Frame, type FrameOf, inlineBytesMax } from './frame.ts';
import { noTransportMetrics, RejectedFrames } from './metrics.ts';

const inFlightMax = 20_000;
const ownEpoch = 7;
const shards = { served: 0, unserved: 1 };

/** A process that owns one shard, runs its calls for ever, and can fetch nothing. */
function setup() {
  const answers: Frame[] = [];
  const seen = { calls: 0, pulls: 0 };
  const handler = {
    askFromRemote: () => {
      seen.calls += 1;
      return new Promise(() => {});
    },
    epochOf: () => ownEpoch,
  };
  const answering = new CallReceiver({
    connection: { publish: (_: string, bytes: Uint8Array) => void answers.push(decodeFrame(bytes)) } as never,
    held: {} as never,
    pulls: {
      pull: () => {
        seen.pulls += 1;
        return Promise.reject(new NotFoundError('this is not held'));
      },
    } as never,
    shardCount: 2,
    clock: new FakeClock(),
    logger: silentLogger,
    metrics: noTransportMetrics,
    rejected: new RejectedFrames(noTransportMetrics, silentLogger),
    handlerOf: (shard) => (shard === shards.served ? handler : undefined),
  });
  const answerTo = async (frame: Frame, shard = shards.served): Promise<Partial<FrameOf<'refusal'>>> => {
    answering.take({ subject: 'shard', reply: 'reply', data: encodeFrame(frame) }, shard);
    await drainPromises();
    return (answers.pop() ?? {}) as Partial<FrameOf<'refusal'>>;
  };
  const fill = () => {
    const data = encodeFrame(callFor(ownEpoch));
    for (let n = 0; n < inFlightMax; n += 1)
      answering.take({ subject: 'shard', reply: 'reply', data }, shards.served);
  };
  return { seen, answerTo, fill };
}

const callFor = (epoch?: number): Frame => ({
  kind: 'call',
  callId: 'one',
  from: 'caller',
  shards: 2,
  remainingMs: 1_000,
  address: { kind: 'user', id: '1' },
  command: 'echo',
  request: null,
  ...(epoch !== undefined && { epoch }),
});

const heldFor = (epoch: number): Frame => ({
  kind: 'held',
  from: 'caller',
  id: 'a',
  bytes: 2 * inlineBytesMax,
  remainingMs: 1_000,
  epoch,
});

test('a process that has too much to do says so of calls that are for it, and promises nothing of others', async (t) => {
  const { seen, answerTo, fill } = setup();
  fill();
  t.is((await answerTo(callFor(ownEpoch))).class, 'overloaded');
  const { class: kindOfError, epoch } = await answerTo(callFor(ownEpoch - 1));
  t.deepEqual({ kindOfError, epoch }, { kindOfError: 'moved', epoch: ownEpoch });
  t.is((await answerTo(callFor(ownEpoch + 1))).class, 'moved');
  t.is((await answerTo(callFor(ownEpoch), shards.unserved)).class, 'moved');
  t.is((await answerTo(heldFor(ownEpoch))).class, 'overloaded');
  t.is((await answerTo(heldFor(ownEpoch - 1))).class, 'moved');
  t.is(seen.calls, inFlightMax);
});

test('a call of an earlier build, which names no claim, is for the process that it comes to', async (t) => {
  const { seen, answerTo, fill } = setup();
  t.is((await answerTo(callFor())).class, undefined);
  t.is(seen.calls, 1);
  fill();
  t.is((await answerTo(callFor())).class, 'overloaded');
});

test('a large call for another claim is refused before it is fetched', async (t) => {
  const { seen, answerTo } = setup();
  const { class: kindOfError, epoch } = await answerTo(heldFor(0));
  t.deepEqual({ kindOfError, epoch }, { kindOfError: 'moved', epoch: ownEpoch });
  t.is((await answerTo(heldFor(ownEpoch), shards.unserved)).class, 'moved');
  t.is(seen.pulls, 0);
});

test('only the owner that a large call is for says that it could not be fetched and had no effect', async (t) => {
  const { seen, answerTo } = setup();
  const { class: kindOfError, outcome } = await answerTo(heldFor(ownEpoch));
  t.deepEqual({ kindOfError, outcome }, { kindOfError: 'retryable', outcome: 'none' });
  t.is(seen.pulls, 1);
});
