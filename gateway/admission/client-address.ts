/**
 * Finds the client of a request by the trusted-proxy rule. `X-Forwarded-For` counts only as far as trusted proxies
 * wrote it. Read from the right, the first address that is not a trusted proxy is the client. If all addresses are
 * trusted proxies, the left-most is the client. If no trusted proxy is at the other end of the socket, anyone could
 * have typed the header, so it is ignored.
 */
import { BlockList, isIP } from 'node:net';

export interface ClientAddress {
  /** `forwardedFor`: all lines of `X-Forwarded-For`, joined by commas. */
  resolve(socketAddress: string, forwardedFor: string): string;
  /** Whether a trusted proxy is at the other end of the socket. */
  isProxy(socketAddress: string): boolean;
}

const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const hopsMax = 16;
const rememberedMax = 1_000;

/**
 * `trustProxy` is `TRUST_PROXY`: `false` (none), `true` (any), or a list of addresses, CIDR ranges and the names
 * `loopback`, `linklocal`, `uniquelocal`.
 *
 * @throws Error on anything else, which the operator sees at the start.
 */
export function createClientAddress(trustProxy: string): ClientAddress {
  const isTrusted = trustedTest(trustProxy);
  // A socket's own IPv4 address is already in plain form, and most requests need no more than this.
  const peerOf = (address: string) => (address.includes(':') ? (normalize(address) ?? address) : address);
  return {
    isProxy: (socketAddress) => isTrusted(peerOf(socketAddress)),
    resolve(socketAddress, forwardedFor) {
      let client = peerOf(socketAddress);
      if (forwardedFor === '') return client;
      const hops = forwardedFor.split(',').slice(-hopsMax);
      while (isTrusted(client)) {
        const hop = hops.pop();
        const address = hop === undefined ? undefined : normalize(hop);
        if (address === undefined) return client;
        client = address;
      }
      return client;
    },
  };
}

function trustedTest(trustProxy: string): (address: string) => boolean {
  const setting = trustProxy.trim();
  if (setting === 'false' || setting === '') return () => false;
  if (setting === 'true') return () => true;
  const list = new BlockList();
  for (const entry of setting.split(',').map((text) => text.trim())) {
    for (const range of namedRanges[entry] ?? [entry]) addRange(list, range);
  }
  return remembered((address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
}

/** Most connections come from a few proxies, and looking through the list takes ten times as long as this map. */
function remembered(test: (address: string) => boolean): (address: string) => boolean {
  const known = new Map<string, boolean>();
  return (address) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    if (known.size >= rememberedMax) known.clear();
    const result = test(address);
    known.set(address, result);
    return result;
  };
}

function addRange(list: BlockList, range: string): void {
  const [network = '', prefix] = range.split('/');
  const version = isIP(network);
  if (version === 0) throw new Error(`TRUST_PROXY: "${range}" is not an address, a range or a known name`);
  const bits = version === 6 ? 128 : 32;
  const prefixBits = prefix === undefined ? bits : Number(prefix);
  if (!Number.isInteger(prefixBits) || prefixBits < 0 || prefixBits > bits) {
    throw new Error(`TRUST_PROXY: "${range}" has no valid prefix length`);
  }
  list.addSubnet(network, prefixBits, version === 6 ? 'ipv6' : 'ipv4');
}

const mappedPattern =
  /^(?:0000:0000:0000:0000:0000|:|0:0:0:0:0):ffff:(?:([\da-f]{4}):([\da-f]{4})|([\d.]+))$/i;

/**
 * An address without port and brackets, and an IPv4 address without its IPv6 mapping. Undefined if it is no address.
 */
export function normalize(text: string): string | undefined {
  let address = text.trim();
  if (address.startsWith('[')) address = address.slice(1).replace(/\](:\d+)?$/, '');
  else if (/^[\d.]+:\d+$/.test(address)) address = address.slice(0, address.indexOf(':'));
  if (isIP(address) === 0) return undefined;
  const [, high, low, dotted] = mappedPattern.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return address;
  return [high.slice(0, 2), high.slice(2), low.slice(0, 2), low.slice(2)]
    .map((hex) => Number.parseInt(hex, 16))
    .join('.');
}
