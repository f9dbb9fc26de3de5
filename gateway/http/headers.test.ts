import test from 'ava';
import { Framing, type RequestHeaders } from './headers.ts';

type Headers = readonly (readonly [name: string, value: string])[];

function headersOf(headers: Headers): RequestHeaders | undefined {
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
  const copied = framing.headersOf(res, req);
  if ((copied === undefined) !== isClosed || framing.refused !== Number(isClosed))
    throw new Error('closed and admitted, or neither');
  return copied;
}

const admits = (headers: Headers): boolean => headersOf(headers) !== undefined;

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

test('a length that is given twice or in another form is ambiguous', (t) => {
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

test('the first line of a repeated header counts, but all lines of forwarded addresses do, in their order', (t) => {
  const headers = headersOf([
    ['x-forwarded-for', '192.0.2.1, 10.0.0.1'],
    ['origin', 'https://a.test'],
    ['x-forwarded-for', '198.51.100.1'],
    ['origin', 'https://b.test'],
    ['cookie', ''],
  ]);
  t.is(headers?.get('x-forwarded-for'), '192.0.2.1, 10.0.0.1,198.51.100.1');
  t.is(headers?.get('origin'), 'https://a.test');
  t.is(headers?.get('cookie'), '');
  t.is(headers?.get('host'), '');
});
