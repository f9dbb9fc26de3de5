import test from 'ava';
import { parseFrame } from '../../cli/smoke-test/server-frame.ts';
import { LaneFrames } from '../../docs/protocol/sync-lane-client.ts';
import { laneFrame, opcodes, textFrame } from './frames.ts';

/** As a server sends it. */
function unmasked(text: string): Buffer {
  const frame = textFrame(text);
  const lengthBytes = (frame.readUInt8(1) & 127) === 126 ? 4 : 2;
  frame.writeUInt8(frame.readUInt8(1) & 127, 1);
  return Buffer.concat([frame.subarray(0, lengthBytes), frame.subarray(lengthBytes + 4)]);
}

for (const length of [0, 125, 126, 65_535]) {
  test(`a text of ${length} bytes is read as it was written, and not before it is complete`, (t) => {
    const text = 'x'.repeat(length);
    const bytes = unmasked(text);
    t.is(parseFrame(bytes.subarray(0, -1)), undefined);
    const frame = parseFrame(Buffer.concat([bytes, unmasked('next')]));
    t.is(frame?.opcode, opcodes.text);
    t.is(bytes.toString('utf8', frame?.start, frame?.end), text);
    t.is(frame?.end, bytes.length);
  });
}

test('a frame of a client says that it is masked', (t) => {
  for (const length of [5, 500]) t.is(textFrame('x'.repeat(length)).readUInt8(1) & 0x80, 0x80);
});

test('a frame of the lane is what the reference client makes', (t) => {
  const frames = new LaneFrames();
  const auth = { ticket: 'ticket', deviceId: 'web-1' };
  // The reference client counts requests from one.
  const ids = (at: number) => ({ requestId: `request-${at}`, commandId: `request-${at}` });
  t.deepEqual(JSON.parse(laneFrame('AUTH', 0, JSON.stringify(auth))), frames.make('AUTH', auth, ids(0)));
  t.deepEqual(JSON.parse(laneFrame('PING', 1, '{}')), frames.make('PING', {}, ids(1)));
});
