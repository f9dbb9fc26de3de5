import test from 'ava';
import { FakeClock } from '../../../test/kit/clock.ts';
import { OverloadedError } from '../../errors.ts';
import { silentLogger } from '../../ports.ts';
import { decodeFrame, decodeFrameOf, encodeFrame, type Frame, partBytes } from './frame.ts';
import { LargeMessageSender } from './large-message-sender.ts';
import { noTransportMetrics, RejectedFrames } from './metrics.ts';

const mebibyte = 1_024 * 1_024;
const reply = (bytes: number): Frame => ({ kind: 'reply', value: Buffer.alloc(bytes) });

function setup() {
  const clock = new FakeClock();
  let take: (message: { data: Uint8Array; reply?: string }) => void = () => {};
  const answers: Frame[] = [];
  const connection = {
    subscribe(_: string, listener: { take: typeof take }) {
      take = listener.take;
      return () => {};
    },
    publish: (_: string, bytes: Uint8Array) => void answers.push(decodeFrame(bytes)),
  };
  const held = new LargeMessageSender({
    connection: connection as never,
    subject: 'parts',
    incarnation: 'me',
    clock,
    metrics: noTransportMetrics,
    rejected: new RejectedFrames(noTransportMetrics, silentLogger),
  });
  const fetch = (id: string, part: number): Frame | undefined => {
    take({ data: encodeFrame({ kind: 'fetch', id, part }), reply: 'reply' });
    return answers.at(-1);
  };
  return { clock, held, fetch };
}

test('a message that fits in a frame is not held', (t) => {
  const { held } = setup();
  t.is(held.pack(reply(1_000), 1_000).heldId, undefined);
  t.is(held.bytes, 0);
});

test('what stands for a held call names the claim that the call is for', (t) => {
  const { held } = setup();
  const call = { callId: 'one', from: 'me', shards: 1, remainingMs: 1_000, command: 'c' };
  const { kind, bytes } = held.pack(
    {
      kind: 'call',
      ...call,
      address: { kind: 'user', id: '1' },
      request: Buffer.alloc(mebibyte),
      epoch: 7,
    },
    1_000,
  );
  t.is(kind, 'held');
  t.is(decodeFrameOf(bytes, 'held').epoch, 7);
});

test('a held message is forgotten once each of its parts was fetched, and a part is not fetched twice', (t) => {
  const { held, fetch } = setup();
  const { heldId = '' } = held.pack(reply(partBytes + 1), 1_000);
  t.is(fetch(heldId, 1)?.kind, 'part');
  t.is(fetch(heldId, 1)?.kind, 'refusal');
  t.is(fetch(heldId, 2)?.kind, 'refusal');
  t.true(held.bytes > 0);
  t.is(fetch(heldId, 0)?.kind, 'part');
  t.is(held.bytes, 0);
  t.is(fetch(heldId, 0)?.kind, 'refusal');
});

test('more than may wait to be fetched is overloaded, and there is room again after the deadline', async (t) => {
  const { clock, held } = setup();
  for (let n = 0; n < 4; n += 1) held.pack(reply(60 * mebibyte), 5_000);
  t.throws(() => held.pack(reply(60 * mebibyte), 5_000), { instanceOf: OverloadedError });
  await clock.advance(7_000);
  t.is(held.bytes, 0);
  t.notThrows(() => held.pack(reply(60 * mebibyte), 15_000));
});
