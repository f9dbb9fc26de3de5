import test from 'ava';
import { createClientAddress } from './client-address.ts';

const { resolve } = createClientAddress('loopback, linklocal, uniquelocal');

test('without a trusted proxy at the other end, the header is ignored', (t) => {
  t.is(resolve('203.0.113.7', '198.51.100.1'), '203.0.113.7');
  t.is(createClientAddress('false').resolve('127.0.0.1', '198.51.100.1'), '127.0.0.1');
});

test('behind trusted proxies the first address from the right that is not one is the client', (t) => {
  t.is(resolve('127.0.0.1', '198.51.100.1'), '198.51.100.1');
  t.is(resolve('10.1.2.3', '192.0.2.66, 198.51.100.1, 192.168.1.1'), '198.51.100.1');
  t.is(resolve('127.0.0.1', '10.0.0.9, 10.0.0.8'), '10.0.0.9');
  t.is(resolve('127.0.0.1', '2001:db8::7'), '2001:db8::7');
  t.is(createClientAddress('true').resolve('203.0.113.7', '192.0.2.1, 198.51.100.1'), '192.0.2.1');
});

test('ports, brackets and mapped addresses are understood', (t) => {
  t.is(resolve('::1', '[2001:db8::7]:4711'), '2001:db8::7');
  t.is(resolve('::1', '198.51.100.1:4711'), '198.51.100.1');
  t.is(resolve('0000:0000:0000:0000:0000:ffff:7f00:0001', '::ffff:198.51.100.1'), '198.51.100.1');
});

test('thousands of addresses later, each is still judged by the list', (t) => {
  const { isProxy } = createClientAddress('10.0.0.0/9');
  const verdicts = () => {
    const addresses = Array.from({ length: 3_000 }, (_, index) => `10.${index % 256}.0.${index >> 8}`);
    return addresses.filter((address) => isProxy(address)).length;
  };
  t.is(verdicts(), 1_536);
  t.is(verdicts(), 1_536);
});

test('the list ends where it makes no sense', (t) => {
  t.is(resolve('127.0.0.1', 'unknown'), '127.0.0.1');
  t.is(resolve('127.0.0.1', '198.51.100.1, <script>, 10.0.0.1'), '10.0.0.1');
  t.is(resolve('127.0.0.1', ','.repeat(10_000)), '127.0.0.1');
});

test('custom ranges can be named, and a mistake is reported at the start', (t) => {
  const own = createClientAddress('203.0.113.0/24, 2001:db8::/32, loopback');
  t.is(own.resolve('203.0.113.9', '198.51.100.1'), '198.51.100.1');
  t.is(own.resolve('2001:db8::1', '198.51.100.1'), '198.51.100.1');
  t.is(own.resolve('10.0.0.1', '198.51.100.1'), '10.0.0.1');
  for (const wrong of ['everyone', '203.0.113.0/33', '203.0.113.0/x']) {
    t.throws(() => createClientAddress(wrong), { message: /TRUST_PROXY/ });
  }
});
