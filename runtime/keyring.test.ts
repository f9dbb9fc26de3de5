import test from 'ava';
import { createKeyring } from './keyring.ts';

const root = Buffer.alloc(32, 7);

test('a purpose gives the same 32 bytes again', (t) => {
  const first = createKeyring(root).derive('session-token');
  t.is(first.length, 32);
  t.deepEqual(createKeyring(Buffer.from(root)).derive('session-token'), first);
});

test('the bytes of a purpose never change between releases', (t) => {
  t.is(
    createKeyring(root).derive('session-token').toString('hex'),
    '7eb8f4edb5c49fd6ba8820be30073cb2ecc2b26a9e38aa29d42db2ca2b371685',
  );
});

test('another purpose or another root secret gives other bytes', (t) => {
  const key = createKeyring(root).derive('session-token');
  t.notDeepEqual(createKeyring(root).derive('session-tokens'), key);
  t.notDeepEqual(createKeyring(Buffer.alloc(32, 8)).derive('session-token'), key);
});

test('a root secret of another length is rejected', (t) => {
  t.throws(() => createKeyring(Buffer.alloc(31)), { instanceOf: RangeError });
  t.throws(() => createKeyring(Buffer.alloc(33)), { instanceOf: RangeError });
});
