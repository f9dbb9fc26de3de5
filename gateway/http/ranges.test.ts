import test from 'ava';
import fc from 'fast-check';
import { parseRange, rangedReply } from './ranges.ts';

test('the three forms of a range, cut at the end', (t) => {
  t.deepEqual(parseRange('bytes=0-3', 8), { first: 0, last: 3 });
  t.deepEqual(parseRange('bytes=5-', 8), { first: 5, last: 7 });
  t.deepEqual(parseRange('bytes=-3', 8), { first: 5, last: 7 });
  t.deepEqual(parseRange('bytes=4-99', 8), { first: 4, last: 7 });
  t.deepEqual(parseRange('bytes=-99', 8), { first: 0, last: 7 });
  t.deepEqual(parseRange('Bytes=7-7', 8), { first: 7, last: 7 });
});

test('no range, and one in a unit of somebody else, is the whole', (t) => {
  for (const header of [undefined, 'items=0-3', 'x-bytes=0-3']) t.is(parseRange(header, 8), 'whole');
});

test('a range that begins behind the end cannot be had, and an empty file has no range at all', (t) => {
  for (const header of ['bytes=8-', 'bytes=8-9', 'bytes=-0']) t.is(parseRange(header, 8), 'unsatisfiable');
  for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) t.is(parseRange(header, 0), 'unsatisfiable');
});

test('several ranges, and whatever else is not one, are malformed', (t) => {
  const headers = [
    ...[
      '',
      'bytes',
      'bytes=',
      'bytes=-',
      'bytes=3-2',
      'bytes=0-1,3-4',
      'bytes=0-1,',
      'bytes=a-b',
      '0-3',
      'bytes 0-3',
    ],
    ...[
      'bytes= 0-3',
      'bytes=0 -3',
      'bytes=0-3 ',
      'bytes=+1-3',
      'bytes=1.5-3',
      'bytes=0x1-3',
      'bytes=--3',
      'bytes=1e3-',
    ],
    `bytes=0-${'9'.repeat(16)}`,
  ];
  for (const header of headers) t.is(parseRange(header, 8), 'malformed', header);
});

test('every range that is understood lies within the file, and is what a slice by the same numbers gives', (t) => {
  const position = fc.nat(40);
  const header = fc.oneof(
    fc.tuple(position, position).map(([first, last]) => `bytes=${first}-${last}`),
    position.map((first) => `bytes=${first}-`),
    position.map((bytes) => `bytes=-${bytes}`),
    fc.string({ unit: fc.constantFrom('bytes=', '-', '0', '7', '12', ',', ' '), maxLength: 5 }),
  );
  fc.assert(
    fc.property(header, fc.nat(30), (text, sizeBytes) => {
      const range = parseRange(text, sizeBytes);
      if (typeof range === 'string') return;
      t.true(range.first >= 0 && range.first <= range.last && range.last < sizeBytes, text);
      const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(text) ?? [];
      const positions = Array.from({ length: sizeBytes }, (_, at) => at);
      const expected =
        first === ''
          ? positions.slice(-Number(last))
          : positions.slice(Number(first), last === '' ? undefined : Number(last) + 1);
      t.deepEqual([range.first, range.last], [expected.at(0), expected.at(-1)], text);
    }),
  );
});

test('a reply of a part says which, and is no longer than it may be', (t) => {
  const opened: unknown[] = [];
  const file = {
    mediaType: 'application/octet-stream',
    sizeBytes: 100,
    partBytesMax: 10,
    async *open(range: unknown) {
      opened.push(range);
      yield new Uint8Array(6);
    },
  };
  const part = rangedReply('bytes=90-', { ...file, partBytesMax: 6 });
  t.like(part, { status: 206, headers: { 'Content-Range': 'bytes 90-95/100', 'Accept-Ranges': 'bytes' } });
  t.is(part.stream?.lengthBytes, 6);
  t.like(rangedReply('bytes=95-', file), { status: 206, headers: { 'Content-Range': 'bytes 95-99/100' } });
  t.like(rangedReply(undefined, file), { status: 200, stream: { lengthBytes: 100 } });
  t.like(rangedReply('bytes=100-', file), { status: 416, headers: { 'Content-Range': 'bytes */100' } });
  t.is(rangedReply('bytes=1-2,4-5', file).status, 400);
  t.like(rangedReply(undefined, { ...file, sizeBytes: 0 }), { status: 200, body: '', stream: undefined });
  t.deepEqual(opened, []);
  part.stream?.open()[Symbol.asyncIterator]().next();
  t.deepEqual(opened, [{ first: 90, last: 95 }]);
});
