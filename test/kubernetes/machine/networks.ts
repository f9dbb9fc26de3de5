/**
 * The networks of two nodes: a network namespace for each, joined by one link. `nsenter --net` enters them, not
 * `ip netns exec`, which hides the control groups from the kubelet.
 */
import { execFileSync } from 'node:child_process';

export interface Network {
  readonly namespace: string;
  readonly address: string;
  /** The network of its pods. */
  readonly podRange: string;
}

export const networks = [
  { namespace: 'scriptorium-1', address: '10.77.0.1', podRange: '10.78.1.0/24' },
  { namespace: 'scriptorium-2', address: '10.77.0.2', podRange: '10.78.2.0/24' },
] as const;

export const allPods = '10.78.0.0/16';
export const serviceRange = '10.79.0.0/24';

const ip = (...args: readonly string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });
const links = ['skr1', 'skr2'] as const;

/** The command that runs something inside. */
export const inside = ({ namespace }: Network): readonly string[] => [
  'nsenter',
  `--net=/run/netns/${namespace}`,
];

/** Returns the function that removes them again, with those that containers inside have left. */
export function makeNetworks(): () => void {
  const before = new Set(namespaces());
  for (const { namespace } of networks) if (before.has(namespace)) ip('netns', 'delete', namespace);
  const [one, two] = networks;
  for (const { namespace } of networks) ip('netns', 'add', namespace);
  ip('-n', one.namespace, 'link', 'add', links[0], 'type', 'veth', 'peer', 'name', links[1]);
  ip('-n', one.namespace, 'link', 'set', links[1], 'netns', two.namespace);
  configure(one, links[0], two);
  configure(two, links[1], one);
  return () => {
    const ours: readonly string[] = networks.map(({ namespace }) => namespace);
    for (const namespace of namespaces()) {
      const isOfContainer = namespace.startsWith('cni-') && !before.has(namespace);
      if (isOfContainer || ours.includes(namespace)) ip('netns', 'delete', namespace);
    }
  };
}

function namespaces(): readonly string[] {
  const list = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' }).split('\n');
  return list.map((line) => line.split(' ')[0] ?? '').filter((name) => name !== '');
}

function configure(own: Network, link: string, other: Network): void {
  const { namespace, address } = own;
  ip('-n', namespace, 'link', 'set', 'lo', 'up');
  ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', link);
  ip('-n', namespace, 'link', 'set', link, 'up');
  ip('-n', namespace, 'route', 'add', other.podRange, 'via', other.address);
  // The network of services, whose packets are redirected before they leave.
  ip('-n', namespace, 'route', 'add', serviceRange, 'via', other.address);
  const [program = '', ...args] = [...inside(own), 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1'];
  execFileSync(program, args);
}
