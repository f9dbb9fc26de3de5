import test from 'ava';
import fc from 'fast-check';
import { LaneFrames } from '../../../docs/protocol/sync-lane-client.ts';
import { commandDigestOf } from './digest.ts';
import {
  clientFrameTypes,
  type FrameFault,
  readFrame,
  sequenceMax,
  valuesMax,
  writeFrame,
} from './envelope.ts';

type Fields = Record<string, unknown>;

const ping: Fields = {
  version: 1,
  channel: 'sync',
  type: 'PING',
  requestId: 'request-1',
  commandId: 'command-1',
  sequence: 3,
  payloadLength: 2,
  payload: {},
};
const body = { api: '20240226', items: [{ uuid: 'note-1' }] };
const payload = { command: 'SYNC_ITEMS', body };
const command: Fields = {
  ...ping,
  type: 'COMMAND',
  payload,
  payloadLength: JSON.stringify(payload).length,
  digest: commandDigestOf(body),
};

const read = (fields: Fields) => readFrame(JSON.stringify(fields));
const without = (fields: Fields, key: string) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));

test('a whole frame is read', (t) => {
  t.deepEqual(read(ping), {
    type: 'PING',
    requestId: 'request-1',
    commandId: 'command-1',
    sequence: 3,
    payload: {},
  });
  t.like(read(command), { type: 'COMMAND', digest: commandDigestOf(body), payload });
});

for (const key of Object.keys(ping)) {
  test(`a frame without ${key} is refused`, (t) => {
    t.is(read(without(ping, key)), 'INVALID_ENVELOPE');
  });

  test(`a frame whose ${key} has another type is refused`, (t) => {
    for (const wrong of [null, [], true, {}, key === 'version' ? '1' : 1.5, 'ä']) {
      if (key === 'payload' && JSON.stringify(wrong) === '{}') continue;
      t.is(typeof read({ ...ping, [key]: wrong }), 'string', JSON.stringify(wrong));
    }
  });
}

test('each defect of a frame has a code of its own', (t) => {
  t.is(readFrame('{'), 'MALFORMED_JSON');
  t.is(readFrame(''), 'MALFORMED_JSON');
  t.is(readFrame('[]'), 'INVALID_ENVELOPE');
  t.is(read({ ...ping, extra: 1 }), 'INVALID_ENVELOPE');
  t.is(read({ ...ping, type: 'ACCEPTED' }), 'INVALID_ENVELOPE');
  t.is(read({ ...ping, requestId: `a${'b'.repeat(128)}` }), 'INVALID_ENVELOPE');
  t.is(read({ ...ping, commandId: '-a' }), 'INVALID_ENVELOPE');
  t.is(read({ ...ping, version: 2 }), 'UNSUPPORTED_VERSION');
  t.is(read({ ...ping, sequence: -1 }), 'INVALID_SEQUENCE');
  t.is(read({ ...ping, sequence: sequenceMax + 1 }), 'INVALID_SEQUENCE');
  t.is(read({ ...ping, payloadLength: 3 }), 'INVALID_PAYLOAD_LENGTH');
  t.is(read({ ...ping, payloadLength: 1 }), 'INVALID_PAYLOAD_LENGTH');
  t.is(read({ ...ping, digest: commandDigestOf({}) }), 'INVALID_DIGEST');
  t.is(read(without(command, 'digest')), 'INVALID_DIGEST');
  t.is(read({ ...command, digest: commandDigestOf(body).toUpperCase() }), 'INVALID_DIGEST');
  t.is(read({ ...command, digest: commandDigestOf({}) }), 'INVALID_DIGEST');
});

test('a body that differs by one byte has another digest', (t) => {
  const changed = { command: 'SYNC_ITEMS', body: { ...body, items: [{ uuid: 'note-2' }] } };
  t.is(read({ ...command, payload: changed }), 'INVALID_DIGEST');
});

test('a frame that nests without end is refused, however deep it is', (t) => {
  const nested = `${'{"a":'.repeat(80_000)}1${'}'.repeat(80_000)}`;
  const text = JSON.stringify({ ...ping, payload: {} }).replace('"payload":{}', `"payload":${nested}`);
  t.is(readFrame(text), 'INVALID_ENVELOPE');
});

const withValues = (count: number) =>
  JSON.stringify({ ...ping, payload: {} }).replace(
    '"payload":{}',
    `"payload":{"a":[${'0,'.repeat(count)}0]}`,
  );

test('a frame of more values than clients send is refused unparsed, and commas within strings are none of them', (t) => {
  t.is(readFrame(withValues(valuesMax)), 'INVALID_ENVELOPE');
  t.is(readFrame(withValues(valuesMax - 1_000)), 'INVALID_PAYLOAD_LENGTH');
  const lists = `"payload":{"a":[${`${'['.repeat(40)}${']'.repeat(40)},`.repeat(1_000)}0]}`;
  t.is(
    readFrame(JSON.stringify({ ...ping, payload: {} }).replace('"payload":{}', lists)),
    'INVALID_ENVELOPE',
  );
  const note = { text: `${',"\\'.repeat(60_000)}` };
  const payloadLength = Buffer.byteLength(JSON.stringify(note));
  t.is(typeof read({ ...ping, payload: note, payloadLength }), 'object');
});

test('a frame with an object of thousands of members is refused before it is sorted', (t) => {
  const withMembers = (count: number) => {
    const payload = { body: Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 1])) };
    return read({ ...ping, payload, payloadLength: Buffer.byteLength(JSON.stringify(payload)) });
  };
  t.is(typeof withMembers(1_024), 'object');
  t.is(withMembers(1_025), 'INVALID_ENVELOPE');
});

const lengths: readonly (readonly [payload: string, bytes: number])[] = [
  ['{}', 2],
  ['{"status":"ACCEPTED"}', 21],
  ['{"code":"SESSION_STALE","retryable":true}', 41],
  ['{"status":"COMMITTED","code":"RESULT_TOO_LARGE"}', 48],
  ['{"capability":"ws-sync","protocolVersion":1,"nextClientSequence":1,"operations":["SYNC_ITEMS"]}', 95],
  ['{"note":"é😀"}', 17],
  [String.raw`{"b":1,"2":0,"1":1.0,"x":"\/\u00e9"}`, 29],
];

for (const [text, bytes] of lengths) {
  test(`the payload ${text} has ${bytes} bytes for the reader and for the writer`, (t) => {
    const frame = JSON.stringify({ ...ping, payloadLength: bytes }).replace(
      '"payload":{}',
      `"payload":${text}`,
    );
    t.is(typeof readFrame(frame), 'object');
    const answer = { ...ping, type: 'PONG', payload: JSON.stringify(JSON.parse(text)) };
    const written = JSON.parse(writeFrame(answer as unknown as Parameters<typeof writeFrame>[0]));
    t.is(written.payloadLength, bytes);
    t.deepEqual(written.payload, JSON.parse(text));
  });
}

test('a written frame holds the keys that clients check, and a digest only where there is one', (t) => {
  const answer = { type: 'PONG', requestId: 'r', commandId: 'c', sequence: 0, payload: '{}' } as const;
  t.deepEqual(JSON.parse(writeFrame(answer)), {
    version: 1,
    channel: 'sync',
    type: 'PONG',
    requestId: 'r',
    commandId: 'c',
    sequence: 0,
    payloadLength: 2,
    payload: {},
  });
  t.is(JSON.parse(writeFrame({ ...answer, digest: 'd' })).digest, 'd');
});

const faults: ReadonlySet<FrameFault> = new Set<FrameFault>([
  'MALFORMED_JSON',
  'INVALID_ENVELOPE',
  'UNSUPPORTED_VERSION',
  'INVALID_SEQUENCE',
  'INVALID_PAYLOAD_LENGTH',
  'INVALID_DIGEST',
]);

test('a torn or damaged frame is refused or read whole, and never crashes the reader', (t) => {
  const text = JSON.stringify(command);
  fc.assert(
    fc.property(fc.nat(text.length), fc.string(), fc.nat(8), (at, inserted, removed) => {
      const damaged = text.slice(0, at) + inserted + text.slice(at + removed);
      const result = readFrame(damaged);
      if (typeof result === 'string') {
        t.true(faults.has(result), result);
        return;
      }
      t.true((clientFrameTypes as readonly string[]).includes(result.type));
      if (result.type === 'COMMAND')
        t.is(result.digest ?? '', commandDigestOf(result.payload['body'] ?? null));
    }),
  );
});

test('any JSON at all is refused or read', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(command)), (value, key) => {
      t.notThrows(() => readFrame(JSON.stringify(value)));
      t.notThrows(() => read({ ...command, [key]: value }));
    }),
  );
});

test('the published client measures payloads in bytes', (t) => {
  for (const text of ['', 'plain', 'é', 'ÿĀ߿', 'ࠀ€\uffff', '😀', '\ud800', 'a\udc00b', '"\n']) {
    const payload = { text };
    t.is(
      new LaneFrames().make('PING', payload).payloadLength,
      Buffer.byteLength(JSON.stringify(payload)),
      text,
    );
  }
});
