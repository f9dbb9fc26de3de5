/**
 * Decides whether the whole internet can reach an address. Only the operator may name a destination that only this server can
 * reach: its own machine, its network, the metadata service of its cloud.
 */
import { BlockList, isIP } from 'node:net';

/** IANA's special-purpose registry, with multicast and reserved addresses. */
const specialRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Azure's metadata and agent service has an ordinary public address.
  '168.63.129.16/32',
];
/** Every address outside of it is local, multicast, or an IPv4 address embedded in IPv6 (mapped, NAT64). */
const globalUnicast = '2000::/3';
/** Tunnels that carry an IPv4 address (Teredo, 6to4), protocol assignments, documentation, AS112. */
const specialGlobalRanges = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const special4 = listOf(specialRanges, 'ipv4');
const global6 = listOf([globalUnicast], 'ipv6');
const special6 = listOf(specialGlobalRanges, 'ipv6');

/** `address` as a resolver or a parsed URL gives it, without brackets. Other texts are not public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special4.check(address, 'ipv4');
    case 6:
      return !address.includes('%') && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
    default:
      return false;
  }
}

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

/** Whether the host of an address, as `URL` spells it, is this machine. Such an address may do without TLS. */
export const isThisMachine = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
