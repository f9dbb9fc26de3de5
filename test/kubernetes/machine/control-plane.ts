/** etcd and the servers of Kubernetes that run once, on the first node. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubernetesFolder } from '../../../tools/kubernetes/build.ts';
import { until } from '../../kit/until.ts';
import { Authority } from '../certificates.ts';
import { Daemon } from './daemon.ts';
import { inside, networks, serviceRange } from './networks.ts';

export interface ControlPlane {
  /** For clients and nodes alike: its holder may do everything. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

const [network] = networks;
const securePort = 16_443;
const etcdClients = 'http://127.0.0.1:12379';
const etcdPeers = 'http://127.0.0.1:12380';
const token = 'for-this-machine-alone';
const startLimitMs = 120_000;

export async function startControlPlane(folder: string): Promise<ControlPlane> {
  const at = (name: string): string => join(folder, name);
  mkdirSync(folder, { recursive: true });
  execFileSync('openssl', ['genrsa', '-out', at('accounts.key'), '2048'], { stdio: 'pipe' });
  execFileSync('openssl', ['rsa', '-in', at('accounts.key'), '-pubout', '-out', at('accounts.pub')], {
    stdio: 'pipe',
  });
  writeAggregator(at);
  writeFileSync(at('tokens.csv'), `${token},admin,1,"system:masters"\n`, { mode: 0o600 });
  const kubeconfig = at('kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(at('certificates/apiserver.crt')), { mode: 0o600 });
  const commands: Readonly<Record<string, readonly string[]>> = {
    etcd: ['etcd', ...etcdFlags(at('etcd'))],
    apiserver: [kubernetes('kube-apiserver'), ...apiServerFlags(at)],
    controllers: [kubernetes('kube-controller-manager'), ...controllerFlags(kubeconfig, at)],
    scheduler: [kubernetes('kube-scheduler'), `--kubeconfig=${kubeconfig}`, '--leader-elect=false'],
  };
  const daemons: Daemon[] = [];
  const start = (name: string): void => {
    const command = [...inside(network), ...(commands[name] ?? [])];
    daemons.push(new Daemon({ name, command, logFolder: folder }));
  };
  start('etcd');
  start('apiserver');
  await until(() => isReady(kubeconfig), startLimitMs);
  start('controllers');
  start('scheduler');
  const stop = async (): Promise<void> => {
    for (const daemon of daemons.toReversed()) await daemon.stop();
  };
  return { kubeconfig, stop };
}

const kubernetes = (program: string): string => join(kubernetesFolder, program);

const etcdFlags = (data: string): readonly string[] => [
  `--data-dir=${data}`,
  `--listen-client-urls=${etcdClients}`,
  `--advertise-client-urls=${etcdClients}`,
  `--listen-peer-urls=${etcdPeers}`,
  `--initial-advertise-peer-urls=${etcdPeers}`,
  `--initial-cluster=default=${etcdPeers}`,
  '--unsafe-no-fsync',
];

const apiServerFlags = (at: (name: string) => string): readonly string[] => [
  `--etcd-servers=${etcdClients}`,
  `--advertise-address=${network.address}`,
  `--secure-port=${securePort}`,
  `--cert-dir=${at('certificates')}`,
  `--service-cluster-ip-range=${serviceRange}`,
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${at('accounts.pub')}`,
  `--service-account-signing-key-file=${at('accounts.key')}`,
  `--token-auth-file=${at('tokens.csv')}`,
  '--authorization-mode=RBAC',
  '--allow-privileged=true',
  '--kubelet-preferred-address-types=InternalIP',
  `--requestheader-client-ca-file=${at(aggregator.authority)}`,
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  `--proxy-client-cert-file=${at(aggregator.certificate)}`,
  `--proxy-client-key-file=${at(aggregator.key)}`,
];

const aggregator = {
  authority: 'aggregator-ca.crt',
  certificate: 'aggregator.crt',
  key: 'aggregator.key',
};

/** By these the API server asks servers that extend it, such as that of metrics, in the name of its own callers. */
function writeAggregator(at: (name: string) => string): void {
  const authority = new Authority(at('.'), 'aggregator');
  const { certificate, key } = authority.sign('aggregator');
  writeFileSync(at(aggregator.authority), authority.certificate);
  writeFileSync(at(aggregator.certificate), certificate);
  writeFileSync(at(aggregator.key), key, { mode: 0o600 });
}

const controllerFlags = (kubeconfig: string, at: (name: string) => string): readonly string[] => [
  `--kubeconfig=${kubeconfig}`,
  `--service-account-private-key-file=${at('accounts.key')}`,
  `--root-ca-file=${at('certificates/apiserver.crt')}`,
  '--leader-elect=false',
];

const kubeconfigOf = (authority: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [
      {
        name: 'here',
        cluster: {
          server: `https://${network.address}:${securePort}`,
          'certificate-authority': authority,
        },
      },
    ],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'admin' } }],
  });

function isReady(kubeconfig: string): boolean {
  const args = [`--kubeconfig=${kubeconfig}`, 'get', '--raw', '/readyz'];
  const [program = '', ...rest] = [...inside(network), kubernetes('kubectl'), ...args];
  try {
    return execFileSync(program, rest, { encoding: 'utf8', stdio: 'pipe' }).trim() === 'ok';
  } catch {
    return false;
  }
}
