import test from 'ava';
import { networkOf, siteOf } from './network.ts';

test('an IPv4 address stands for itself', (t) => {
  t.is(networkOf('203.0.113.7'), '203.0.113.7');
  t.is(networkOf(''), '');
});

test('all addresses of a /64 are one network, however they are spelled', (t) => {
  for (const spelling of [
    '2001:db8::1',
    '2001:0DB8:0:0::7',
    '2001:db8:0:0:1:2:3:4',
    '2001:db8::203.0.113.7',
  ]) {
    t.is(networkOf(spelling), '2001:db8:0:0', spelling);
  }
  t.is(networkOf('::1'), '0:0:0:0');
  t.is(networkOf('::'), '0:0:0:0');
  t.is(networkOf('2001:db8:0:1::'), '2001:db8:0:1');
  t.is(networkOf('fe80::1:2:3:4%eth0'), 'fe80:0:0:0');
});

test('all networks of a /48 are one site, and an IPv4 address is its own', (t) => {
  for (const address of ['2001:db8:1::1', '2001:db8:1:ffff::1', '2001:0DB8:0001:2:3:4:5:6']) {
    t.is(siteOf(address), '2001:db8:1', address);
  }
  t.is(siteOf('2001:db8:2::1'), '2001:db8:2');
  t.is(siteOf('203.0.113.7'), '203.0.113.7');
});
