/**
 * A node of the cluster: containerd, kubelet, kube-proxy and a firewall. They have their own network, folders and control groups, so that
 * several nodes fit on one machine.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubernetesFolder } from '../../../tools/kubernetes/build.ts';
import { until } from '../../kit/until.ts';
import { Daemon } from './daemon.ts';
import { images } from './images.ts';
import { allPods, inside, type Network, serviceRange } from './networks.ts';
import { networkPlugins, networkPolicyProgram } from './programs.ts';

export interface NodeOptions {
  readonly name: string;
  readonly network: Network;
  /** Short: the path of a socket in it must fit into 108 bytes. */
  readonly folder: string;
  readonly kubeconfig: string;
  readonly dnsAddress: string;
}

const hierarchies = '/sys/fs/cgroup';
const startLimitMs = 30_000;
const endLimitMs = 60_000;

export class Node {
  readonly name: string;
  readonly #options: NodeOptions;
  readonly #daemons: Daemon[] = [];

  constructor(options: NodeOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Starts everything with these images; the node is ready some seconds later. */
  async start(archives: readonly string[]): Promise<void> {
    const { folder, kubeconfig, name, network } = this.#options;
    mkdirSync(join(folder, 'network'), { recursive: true });
    makeControlGroups(name);
    this.#write('containerd.toml', this.#containerdConfig());
    this.#write('kubelet.json', JSON.stringify(this.#kubeletConfig()));
    this.#write('network/pods.conflist', JSON.stringify(this.#podNetwork()));
    this.#daemon('containerd', ['containerd', '--config', join(folder, 'containerd.toml')]);
    await until(() => existsSync(this.#socket) && this.#isRuntimeReady(), startLimitMs);
    for (const archive of archives) this.containers('images', 'import', archive);
    const kubelet = [
      `--config=${join(folder, 'kubelet.json')}`,
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${name}`,
      `--node-ip=${network.address}`,
      `--root-dir=${join(folder, 'kubelet')}`,
    ];
    this.#daemon('kubelet', [join(kubernetesFolder, 'kubelet'), ...kubelet]);
    const proxy = [
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${name}`,
      '--proxy-mode=iptables',
      `--cluster-cidr=${allPods}`,
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-established=0',
      '--conntrack-tcp-timeout-close-wait=0',
    ];
    this.#daemon('kube-proxy', [join(kubernetesFolder, 'kube-proxy'), ...proxy]);
  }

  /** Once the node is registered. */
  enforcePolicies(): void {
    const { kubeconfig, name } = this.#options;
    const policies = [
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${name}`,
      `--service-cluster-ip-range=${serviceRange}`,
      '--run-firewall=true',
      '--run-router=false',
      '--run-service-proxy=false',
      '--run-loadbalancer=false',
      '--enable-ipv6=false',
    ];
    this.#daemon('policies', [networkPolicyProgram, ...policies]);
  }

  /** The container runtime's output for this command. */
  containers(...args: readonly string[]): string {
    const options = ['--address', this.#socket, '--namespace', 'k8s.io'];
    return execFileSync('ctr', [...options, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Ends every container, and leaves nothing mounted. */
  async stop(): Promise<void> {
    const [runtime, ...others] = this.#daemons;
    for (const daemon of others.toReversed()) await daemon.stop();
    if (runtime !== undefined) {
      this.#endContainers();
      await runtime.stop();
    }
    unmountBelow(this.#options.folder);
    await removeControlGroups(this.name);
  }

  /** First their processes; then their supervisors end, too. */
  #endContainers(): void {
    for (const group of hierarchiesWith(this.name)) killAllIn(group);
    for (const id of this.containers('tasks', 'list', '--quiet').split('\n').filter(Boolean)) {
      try {
        this.containers('tasks', 'delete', '--force', id);
      } catch {
        // It has just ended with the others of its pod.
      }
    }
  }

  #daemon(name: string, command: readonly string[]): void {
    const { folder, network } = this.#options;
    this.#daemons.push(new Daemon({ name, command: [...inside(network), ...command], logFolder: folder }));
  }

  get #socket(): string {
    return join(this.#options.folder, 'c.sock');
  }

  #isRuntimeReady(): boolean {
    try {
      this.containers('version');
      return true;
    } catch {
      return false;
    }
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#options.folder, name), text);
  }

  #containerdConfig(): string {
    const { folder } = this.#options;
    return `version = 2
root = "${folder}/containerd"
state = "${folder}/state"
[grpc]
  address = "${this.#socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${images.pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${networkPlugins}"
    conf_dir = "${folder}/network"
`;
  }

  #kubeletConfig(): object {
    const { folder, network, dnsAddress, name } = this.#options;
    return {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      address: network.address,
      healthzBindAddress: '127.0.0.1',
      containerRuntimeEndpoint: `unix://${this.#socket}`,
      podLogsDir: join(folder, 'pod-logs'),
      clusterDNS: [dnsAddress],
      clusterDomain: 'cluster.local',
      cgroupDriver: 'cgroupfs',
      cgroupRoot: `/${name}`,
      cgroupsPerQOS: true,
      enforceNodeAllocatable: ['pods'],
      failSwapOn: false,
      failCgroupV1: false,
      featureGates: { KubeletInUserNamespace: true },
      evictionHard: { 'nodefs.available': '1%', 'imagefs.available': '1%' },
      // An image that was removed to free a full disk could not be fetched again from any registry.
      imageGCHighThresholdPercent: 100,
      // So that replaced Secrets arrive soon.
      syncFrequency: '10s',
    };
  }

  /** Each pod has its own link instead of a bridge, so services work without bridge filtering. */
  #podNetwork(): object {
    const { folder, name, network } = this.#options;
    const ipam = {
      type: 'host-local',
      dataDir: join(folder, 'addresses'),
      ranges: [[{ subnet: network.podRange }]],
      routes: [{ dst: '0.0.0.0/0' }],
    };
    return {
      cniVersion: '0.4.0',
      name,
      plugins: [
        { type: 'ptp', ipMasq: false, ipam },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    };
  }
}

function hierarchiesWith(name: string): readonly string[] {
  return readdirSync(hierarchies)
    .map((hierarchy) => join(hierarchies, hierarchy))
    .filter((hierarchy) => existsSync(join(hierarchy, 'cgroup.procs')))
    .map((hierarchy) => join(hierarchy, name));
}

function makeControlGroups(name: string): void {
  for (const group of hierarchiesWith(name)) {
    mkdirSync(group, { recursive: true });
    // A new group of these has no processor and no memory until they are assigned.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const parent = join(group, '..', file);
      if (existsSync(parent)) writeFileSync(join(group, file), readFileSync(parent));
    }
  }
}

/** Once the last process in them has ended. */
async function removeControlGroups(name: string): Promise<void> {
  for (const group of hierarchiesWith(name)) await until(() => isRemoved(group), endLimitMs);
}

function killAllIn(group: string): void {
  const entries = existsSync(group) ? readdirSync(group, { recursive: true, withFileTypes: true }) : [];
  for (const { name, parentPath } of entries) {
    if (name !== 'cgroup.procs' || parentPath === group) continue;
    for (const pid of pidsIn(join(parentPath, name))) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }
}

function isRemoved(group: string): boolean {
  if (!existsSync(group)) return true;
  const within = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  if (!within.every((entry) => isRemoved(join(group, entry.name)))) return false;
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}

function unmountBelow(folder: string): void {
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((target) => target.startsWith(`${folder}/`));
  for (const target of mounted.toReversed()) execFileSync('umount', ['--lazy', target], { stdio: 'pipe' });
}

/** For a group that may disappear at any moment. */
function pidsIn(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
