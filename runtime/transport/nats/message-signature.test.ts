import { createHmac } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { FrameError } from './frame.ts';
import { createHmacSha256, createMessageSigner } from './message-signature.ts';

const key = Buffer.alloc(32, 1);
const frame = Buffer.from('frame');
const minuteMs = 60_000;
const signerAt = (nowMs: number, of = key) => createMessageSigner(of, { nowMs: () => nowMs });
const signer = signerAt(0);

test('it is the HMAC-SHA256 of the standard', (t) => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 64 }),
      fc.string(),
      bytes,
      (secret, context, data) => {
        const expected = createHmac('sha256', secret).update(context).update(data).digest('hex');
        t.is(createHmacSha256(Buffer.from(secret))(context, data).toString('hex'), expected);
      },
    ),
  );
});

test('a signed message is accepted where it was sent, with the subject for its answer', (t) => {
  t.deepEqual(signer.verify({ subject: 'a', data: signer.sign(frame, 'a') }), frame);
  t.deepEqual(signer.verify({ subject: 'a', reply: 'r', data: signer.sign(frame, 'a', 'r') }), frame);
});

function rejection(message: Parameters<typeof signer.verify>[0], at = signer): string {
  try {
    at.verify(message);
  } catch (error) {
    if (error instanceof FrameError) return error.reason;
  }
  return 'opened';
}

test('no byte of it can be changed, removed or added', (t) => {
  const signed = signer.sign(frame, 'a');
  for (let at = 0; at < signed.length; at += 1) {
    const changed = Buffer.from(signed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.is(rejection({ subject: 'a', data: changed }), at === 0 ? 'version' : 'mac', `byte ${at}`);
    t.not(rejection({ subject: 'a', data: signed.subarray(0, at) }), 'opened', `${at} bytes`);
  }
  t.is(rejection({ subject: 'a', data: Buffer.concat([signed, Buffer.alloc(1)]) }), 'mac');
});

test('it is good for one subject, one subject for the answer and one key', (t) => {
  const data = signer.sign(frame, 'a', 'r');
  t.is(rejection({ subject: 'b', reply: 'r', data }), 'mac');
  t.is(rejection({ subject: 'a', reply: 'q', data }), 'mac');
  t.is(rejection({ subject: 'a', data }), 'mac');
  t.is(rejection({ subject: 'a', reply: 'r', data }, signerAt(0, Buffer.alloc(32, 2))), 'mac');
});

test('it is good for ten minutes, whichever clock is ahead', (t) => {
  const nowMs = 1e12;
  const message = { subject: 'a', data: signerAt(nowMs).sign(frame, 'a') };
  for (const byMs of [-10 * minuteMs, 10 * minuteMs])
    t.is(rejection(message, signerAt(nowMs + byMs)), 'opened', `${byMs}`);
  for (const byMs of [-10 * minuteMs - 1, 10 * minuteMs + 1])
    t.is(rejection(message, signerAt(nowMs + byMs)), 'stale', `${byMs}`);
});
