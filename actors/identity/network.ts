/**
 * The network that an address belongs to. The server counts and remembers networks. An IPv4 address stands for itself. A
 * subscriber with IPv6 has a whole /64 and may use any address in it.
 */

const networkGroups = 4;
const siteGroups = 3;
const groups = 8;

/** Text that is no IPv6 address stands for itself. All spellings of a network give one text. */
export const networkOf = (address: string): string => prefixOf(address, networkGroups);

/** The /48 around it. A customer may get one for free, and with it 65,536 networks. */
export const siteOf = (address: string): string => prefixOf(address, siteGroups);

function prefixOf(address: string, prefixGroups: number): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const zeros = new Array<string>(Math.max(0, groups - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, prefixGroups).join(':');
}

/** A dotted IPv4 address at the end stands for two groups. */
function groupsOf(text: string): readonly string[] {
  if (text === '') return [];
  return text
    .split(':')
    .flatMap((group) =>
      group.includes('.') ? [group, group] : [group.toLowerCase().replace(/^0+(?=.)/, '')],
    );
}
