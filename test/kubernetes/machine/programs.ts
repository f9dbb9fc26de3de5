/** The programs for a Kubernetes on one machine: from Debian, and compiled ones. */
import { buildGoProgram, pathOf } from '../../../tools/go-program.ts';
import { buildKubernetes } from '../../../tools/kubernetes/build.ts';
import { findOrInstallProgram, type Program } from '../../../tools/program.ts';
import { buildHelm } from '../../../tools/programs.ts';

const packages: Readonly<Record<string, string>> = {
  etcd: 'etcd-server',
  containerd: 'containerd',
  runc: 'runc',
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
  ip: 'iproute2',
  iptables: 'iptables',
  conntrack: 'conntrack',
  openssl: 'openssl',
  nsenter: 'util-linux',
  ipset: 'ipset',
  ptp: 'containernetworking-plugins',
};

/** Where Debian puts the plug-ins that give pods their addresses. */
export const networkPlugins = '/usr/lib/cni';

const coreDns = { name: 'CoreDNS', package: 'github.com/coredns/coredns', version: 'v1.15.0' };
export const coreDnsProgram = pathOf(coreDns);

/** Enforces NetworkPolicies on a node, whatever plug-in gave its pods their addresses. */
const networkPolicies = {
  name: 'kube-router',
  package: 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router',
  version: 'v2.1.0',
};
export const networkPolicyProgram = pathOf(networkPolicies);

/** Tells autoscalers what pods use. */
const metricsServer = {
  name: 'metrics-server',
  package: 'sigs.k8s.io/metrics-server/cmd/metrics-server',
  version: 'v0.9.0',
};
export const metricsServerProgram = pathOf(metricsServer);

/** Finds, installs or compiles them. @throws Error, one line */
export function findOrMakePrograms(): void {
  if (process.getuid?.() !== 0) throw new Error('This takes root: containers, network namespaces, mounts.');
  const environment = { ...process.env, PATH: `${process.env['PATH']}:${networkPlugins}` };
  for (const [command, debianPackage] of Object.entries(packages)) {
    const variable = `${command.toUpperCase()}_PATH`;
    const program: Program = { name: command, variable, commands: [command], package: debianPackage };
    findOrInstallProgram(program, environment);
  }
  buildKubernetes();
  buildHelm();
  for (const program of [coreDns, networkPolicies, metricsServer]) buildGoProgram(program);
}
