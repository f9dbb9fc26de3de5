import test from 'ava';
import { FakeClock } from '../../../test/kit/clock.ts';
import { OverloadedError, RetryableError } from '../../errors.ts';
import { silentLogger } from '../../ports.ts';
import { OwnerEpochs } from '../owner-epochs.ts';
import { CallSender } from './call-sender.ts';
import { noTransportMetrics, RejectedFrames } from './metrics.ts';

test('more calls than may wait for an answer are overloaded, until one has ended', async (t) => {
  const ends: (() => void)[] = [];
  const calls = new CallSender({
    mux: {
      request: () =>
        new Promise((_, reject) =>
          ends.push(() => reject(new RetryableError('late', { outcome: 'unknown' }))),
        ),
    },
    held: {
      pack: ({ kind }) => ({ kind, bytes: Buffer.alloc(1), heldId: undefined }),
      forget() {},
    },
    pulls: { pull: () => Promise.reject(new Error('nothing is held')) },
    shardSubject: String,
    incarnation: 'me',
    shardCount: 16,
    epochs: new OwnerEpochs(),
    clock: new FakeClock(),
    metrics: noTransportMetrics,
    rejected: new RejectedFrames(noTransportMetrics, silentLogger),
  });
  const ask = () =>
    calls.ask(
      { address: { kind: 'user', id: '1' }, command: 'c', request: null, callId: 'call', deadlineMs: 1_000 },
      0,
    );
  const waiting = Array.from({ length: 20_000 }, () => t.throwsAsync(ask(), { instanceOf: RetryableError }));
  await t.throwsAsync(ask(), { instanceOf: OverloadedError });
  t.is(calls.inFlight, 20_000);
  for (const end of ends) end();
  await Promise.all(waiting);
  t.is(calls.inFlight, 0);
});
