import test from 'ava';
import { Framing } from './framing.ts';

type Headers = readonly (readonly [name: string, value: string])[];

function admits(headers: Headers): boolean {
  let isClosed = false;
  const res = {
    close() {
      isClosed = true;
      return this as never;
    },
  };
  const req = {
    forEach(each: (name: string, value: string) => void) {
      for (const [name, value] of headers) each(name, value);
    },
  };
  const framing = new Framing();
  const isAdmitted = framing.admits(res, req);
  if (isAdmitted === isClosed) throw new Error('closed and admitted, or neither');
  return isAdmitted && framing.refused === 0;
}

test('one length or one coding is one framing, and having neither is fine', (t) => {
  for (const headers of [
    [],
    [['content-length', '2']],
    [['transfer-encoding', 'chunked']],
    [['transfer-encoding', 'Chunked']],
  ] as Headers[]) {
    t.true(admits([['host', 'a'], ...headers, ['accept', '*/*']]), JSON.stringify(headers));
  }
});

test('what is said twice or in another way is ambiguous', (t) => {
  for (const headers of [
    [
      ['content-length', '2'],
      ['content-length', '5'],
    ],
    [
      ['content-length', '2'],
      ['content-length', '2'],
    ],
    [
      ['content-length', ''],
      ['content-length', '2'],
    ],
    [['content-length', '']],
    [
      ['content-length', '2'],
      ['transfer-encoding', 'chunked'],
    ],
    [
      ['transfer-encoding', 'chunked'],
      ['transfer-encoding', 'identity'],
    ],
    [['transfer-encoding', 'xchunked']],
    [['transfer-encoding', 'gzip, chunked']],
    [['transfer-encoding', 'identity']],
    [['transfer-encoding', '']],
  ] as Headers[]) {
    t.false(admits([['host', 'a'], ...headers, ['accept', '*/*']]), JSON.stringify(headers));
  }
});
