import test from 'ava';
import { drainPromises, FakeClock } from '../../../test/kit/clock.ts';
import { RetryableError } from '../../errors.ts';
import { decodeFrame, encodeFrame, type Frame, type FrameOf, partBytes } from './frame.ts';
import { LargeMessageReceiver } from './large-message-receiver.ts';
import { noTransportMetrics } from './metrics.ts';

const reply: Frame = { kind: 'reply', value: Buffer.alloc(3 * partBytes, 'x') };
const whole = encodeFrame(reply);
const partCount = Math.ceil(whole.length / partBytes);

const heldBy = (from: string): FrameOf<'held'> => ({
  kind: 'held',
  from,
  id: 'id',
  bytes: whole.length,
  remainingMs: 60_000,
});

/** Holders answer at once, but for those that stand still. */
function setup(stalled: ReadonlySet<string> = new Set()) {
  const clock = new FakeClock();
  const requests = new Map<string, number>();
  const unanswered = new Map<() => void, string>();
  const lost = () => new RetryableError('no answer', { outcome: 'unknown' });
  const mux = {
    request: (holder: string, bytes: Uint8Array, deadlineMs: number) => {
      requests.set(holder, (requests.get(holder) ?? 0) + 1);
      if (!stalled.has(holder)) return Promise.resolve(partOf(bytes));
      return new Promise<Uint8Array>((_, reject) => {
        const end = () => {
          unanswered.delete(end);
          reject(lost());
        };
        unanswered.set(end, holder);
        clock.schedule(deadlineMs - clock.monotonicMs(), end);
      });
    },
    abandon: (holders: readonly string[]) => {
      for (const [end, holder] of unanswered) if (holders.includes(holder)) end();
    },
  };
  const pulls = new LargeMessageReceiver({
    mux,
    partsSubject: (holder) => holder,
    clock,
    metrics: noTransportMetrics,
  });
  return { clock, requests, pulls };
}

function partOf(bytes: Uint8Array): Uint8Array {
  const fetch = decodeFrame(bytes) as FrameOf<'fetch'>;
  const part = whole.subarray(fetch.part * partBytes, (fetch.part + 1) * partBytes);
  return encodeFrame({ kind: 'part', bytes: part });
}

const inAMinute = ({ clock }: { readonly clock: FakeClock }) => clock.monotonicMs() + 60_000;

test('a message is fetched in parts and put together', async (t) => {
  const made = setup();
  const pulled = (await made.pulls.pull(heldBy('a'), inAMinute(made))) as FrameOf<'reply'>;
  t.is(Buffer.compare(pulled.value as Buffer, reply.value as Buffer), 0);
  t.is(made.requests.get('a'), partCount);
});

test('messages of a holder that stands still delay those of no other', async (t) => {
  const made = setup(new Set(['stuck']));
  const stuck = Array.from({ length: 100 }, () => made.pulls.pull(heldBy('stuck'), inAMinute(made)));
  for (const one of stuck) one.catch(() => {});
  await made.pulls.pull(heldBy('a'), inAMinute(made));
  t.is(made.clock.monotonicMs(), new FakeClock().monotonicMs());
  t.true((made.requests.get('stuck') ?? 0) <= 4);
});

test('a holder that lets a part run into its full time is dropped with all that waits there', async (t) => {
  const standingStill = new Set(['stuck']);
  const made = setup(standingStill);
  const stuck = Array.from({ length: 100 }, () => made.pulls.pull(heldBy('stuck'), inAMinute(made)));
  const outcomes = Promise.allSettled(stuck);
  await made.clock.advance(10_000);
  await drainPromises();
  const reasons = (await outcomes).map((one) => (one.status === 'rejected' ? one.reason : undefined));
  t.true(reasons.every((reason) => reason instanceof RetryableError));
  t.true((made.requests.get('stuck') ?? 0) <= 8);
  standingStill.clear();
  t.is((await made.pulls.pull(heldBy('stuck'), inAMinute(made))).kind, 'reply');
});

test('a caller that runs out of time drops no holder', async (t) => {
  const made = setup(new Set(['slow']));
  const patient = made.pulls.pull(heldBy('slow'), inAMinute(made));
  patient.catch(() => {});
  const hurried = made.pulls.pull(heldBy('slow'), made.clock.monotonicMs() + 1_000);
  hurried.catch(() => {});
  await made.clock.advance(2_000);
  t.is(await Promise.race([patient.catch(() => 'failed'), Promise.resolve('waits')]), 'waits');
});
