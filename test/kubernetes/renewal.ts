/** New certificates of another authority, adopted by running servers. */
import type { Manifest } from '../helm/chart.ts';
import { until } from '../kit/until.ts';
import { Authority, type Signed } from './certificates.ts';
import { type Installation, natsHosts, release, rolledOut } from './installation.ts';
import type { Operator } from './kubectl.ts';
import { namespace, tlsSecret } from './surroundings.ts';

/** The kubelet passes a Secret on within a minute, and the servers of NATS look every half a minute. */
const propagationLimitMs = 180_000;

/** Where pods find their own certificate and their trusted authorities. */
const places = {
  nats: { selector: 'app.kubernetes.io/component=nats', container: 'nats', folder: '/etc/nats/tls' },
  client: { selector: 'scriptorium/server=true', container: 'scriptorium', folder: '/etc/scriptorium/tls' },
};

async function isSeen(
  { operator }: Installation,
  part: keyof typeof places,
  manifest: Manifest,
): Promise<boolean> {
  const { selector, container, folder } = places[part];
  const pods = await operator.get(`pods --namespace ${namespace} --selector ${selector}`);
  const expected = manifest['stringData']['tls.crt'] + manifest['stringData']['ca.crt'];
  for (const { metadata } of pods.items) {
    const where = `${metadata.name} --namespace ${namespace} --container ${container}`;
    const seen = await operator.run(`kubectl exec ${where} -- cat ${folder}/tls.crt ${folder}/ca.crt`);
    if (seen !== expected) return false;
  }
  return true;
}

/** How often all servers of NATS together have reloaded their files. */
async function reloads({ operator }: Installation): Promise<number> {
  const { selector, container } = places.nats;
  const which = `--namespace ${namespace} --selector ${selector} --container ${container}`;
  const logs = await operator.run(`kubectl logs ${which} --tail=-1`);
  return logs.split('Reloaded server configuration').length - 1;
}

/** Replaces both Secrets, and waits until everybody uses them. */
async function replaceCertificates(
  installation: Installation,
  nats: Manifest,
  client: Manifest,
): Promise<void> {
  const before = await reloads(installation);
  await installation.operator.apply([nats, client]);
  await until(() => isSeen(installation, 'client', client), propagationLimitMs);
  await until(() => isSeen(installation, 'nats', nats), propagationLimitMs);
  await until(async () => (await reloads(installation)) >= before + 3, propagationLimitMs);
}

/**
 * With another authority: first everybody trusts both, then shows the second one's certificate, then trusts that one
 * alone. Only NATS restarts at the end, one by one, so that every connection is made once more.
 */
export async function renewCertificates(installation: Installation): Promise<void> {
  const { operator, authority, folder } = installation;
  const next = new Authority(folder, 'second-authority');
  const both = authority.certificate + next.certificate;
  const [oldNats, oldClient] = [await signedIn(operator, 'nats-tls'), await signedIn(operator, 'client-tls')];
  const [nats, client] = [next.sign('nats', natsHosts), next.sign('scriptorium')];
  const replace = replaceCertificates.bind(undefined, installation);
  await replace(tlsSecret('nats-tls', oldNats, both), tlsSecret('client-tls', oldClient, both));
  await replace(tlsSecret('nats-tls', nats, both), tlsSecret('client-tls', client, both));
  // The database shows the certificate of the first authority.
  await replace(tlsSecret('nats-tls', nats, next.certificate), tlsSecret('client-tls', client, both));
  await operator.run(`kubectl rollout restart statefulset/${release}-nats --namespace ${namespace}`);
  await rolledOut(installation);
}

async function signedIn(operator: Operator, secret: string): Promise<Signed> {
  const { data } = await operator.get(`secret ${secret} --namespace ${namespace}`);
  return { certificate: fromBase64(data['tls.crt']), key: fromBase64(data['tls.key']) };
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString();
