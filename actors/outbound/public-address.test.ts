import test from 'ava';
import fc from 'fast-check';
import { isPublicAddress } from './public-address.ts';

const refused: Readonly<Record<string, readonly string[]>> = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.255.255.255', '::1'],
  'link-local': ['169.254.0.0', '169.254.255.255', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'metadata of clouds': [
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarks: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1'],
  reserved: [
    '240.0.0.0',
    '255.255.255.255',
    '192.0.0.1',
    '192.88.99.1',
    '::',
    '100::1',
    '5f00::1',
    '4000::1',
  ],
  'unique local': ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'site-local': ['fec0::1'],
  'no address': ['', 'localhost', 'example.org', '127.1', '[::1]', '2001:4860::8888%eth0', '8.8.8.8/32'],
};

for (const [what, addresses] of Object.entries(refused)) {
  test(`not public: ${what}`, (t) => {
    for (const address of addresses) t.false(isPublicAddress(address), address);
  });
}

test('addresses beside a range are public', (t) => {
  const beside = [
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2606:4700::1111',
    '2a00:1450::1',
    '2003::1',
    '3ffe:ffff::1',
  ];
  for (const address of beside) t.true(isPublicAddress(address), address);
});

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
const ipv6 = (parts: readonly number[]) => parts.map((part) => part.toString(16)).join(':');

test('an IPv4 address is judged by its octets', (t) => {
  const isSpecial = ([a, b, c, d]: readonly number[]) => {
    const [first = 0, second = 0, third = 0] = [a, b, c];
    const two = `${first}.${second}`;
    return (
      [0, 10, 127].includes(first) ||
      first >= 224 ||
      (first === 100 && second >= 64 && second < 128) ||
      (first === 172 && second >= 16 && second < 32) ||
      ['169.254', '192.168', '198.18', '198.19'].includes(two) ||
      ['192.0.0', '192.0.2', '192.31.196', '192.52.193', '192.88.99', '192.175.48'].includes(
        `${two}.${third}`,
      ) ||
      ['198.51.100', '203.0.113'].includes(`${two}.${third}`) ||
      `${two}.${third}.${d}` === '168.63.129.16'
    );
  };
  fc.assert(
    fc.property(octets, (address) => isPublicAddress(address.join('.')) === !isSpecial(address)),
    { numRuns: 20_000 },
  );
  t.pass();
});

test('no IPv4 address passes in IPv6 clothes', (t) => {
  fc.assert(
    fc.property(octets, groups, ([a, b, c, d], rest) => {
      const [high, low] = [a * 256 + b, c * 256 + d];
      const clothes = [
        `::ffff:${a}.${b}.${c}.${d}`,
        ipv6([0, 0, 0, 0, 0, 0xffff, high, low]),
        ipv6([0, 0, 0, 0, 0, 0, high, low]),
        ipv6([0, 0, 0, 0, 0xffff, 0, high, low]),
        ipv6([0x64, 0xff9b, 0, 0, 0, 0, high, low]),
        ipv6([0x64, 0xff9b, 1, ...rest.slice(3, 6), high, low]),
        ipv6([0x2002, high, low, ...rest.slice(3)]),
        ipv6([0x2001, 0, ...rest.slice(2, 6), high ^ 0xffff, low ^ 0xffff]),
      ];
      return clothes.every((address) => !isPublicAddress(address));
    }),
    { numRuns: 5_000 },
  );
  t.pass();
});

test('no IPv6 address outside of global unicast passes', (t) => {
  fc.assert(
    fc.property(groups, ([first = 0, ...rest]) => {
      const isGlobal = first >> 13 === 1;
      return isGlobal || !isPublicAddress(ipv6([first, ...rest]));
    }),
    { numRuns: 20_000 },
  );
  t.pass();
});

test('however a URL spells an address, it is judged as what is connected to', (t) => {
  const hostOf = (host: string) => new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '');
  const spellings = [
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0x7f.0.0x1',
    '127.0.0.1.',
    '①②⑦.⓪.⓪.①',
  ];
  for (const spelling of spellings) t.is(hostOf(spelling), '127.0.0.1', spelling);
  for (const spelling of [
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[::7f00:1]',
    '[64:ff9b::a00:1]',
  ]) {
    t.false(isPublicAddress(hostOf(spelling)), spelling);
  }
});
