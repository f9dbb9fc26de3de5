/** Hosts and addresses of settings: which of them are this machine, and which send in plain text over a network. */
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host === 'localhost';
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** The host without the brackets that a URL puts around an IPv6 address. */
const nameIn = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

export const isLoopbackUrl = (url: string): boolean => isLoopback(nameIn(new URL(url)));

/** False for an invalid address. The connection refuses that one later, without showing it. */
export function isPlainNats(url: string): boolean {
  if (!url.startsWith('nats://') || !URL.canParse(url)) return false;
  return !isLoopback(nameIn(new URL(url)));
}

export function isPlainHttp(address: string): boolean {
  const url = new URL(address);
  return url.protocol === 'http:' && !isLoopback(nameIn(url));
}

/** The host as an address names it: `localhost` if it stands for every interface. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIP(host) === 6 ? `[${host}]` : host;
}
