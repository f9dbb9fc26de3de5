/** An installation of the chart, and its operator's most frequent actions, with the commands of docs/kubernetes.md. */
import { commandsOf, replaced } from '../documentation/commands.ts';
import type { Authority } from './certificates.ts';
import type { Operator } from './kubectl.ts';
import { images } from './machine/images.ts';
import type { Node } from './machine/node.ts';
import { namespace } from './surroundings.ts';

export interface Installation {
  readonly operator: Operator;
  readonly nodes: readonly Node[];
  /** The authority of the first certificates. */
  readonly authority: Authority;
  readonly folder: string;
  /** The address of its Service. */
  readonly url: string;
}

export const release = 'notes-scriptorium';
export const natsHosts = [`*.${release}-nats.${namespace}.svc`];
/** Until all pods are ready, because the next steps need them. */
export const waiting = '--wait --timeout 10m';
/** Names of images that are in no registry. */
export const ownImage = { 'registry.example.org/scriptorium': images.server };

const { makeNamespace, makeSecret, install } = commandsOf('docs/kubernetes.md', 'A cluster', [
  'makeNamespace',
  'makeSecret',
  'install',
]);
const { tryIt } = commandsOf('docs/kubernetes.md', 'Does it work?', ['tryIt']);
const { takeNextBuild } = commandsOf('docs/kubernetes.md', 'Upgrades', ['takeNextBuild']);
const { listNodes } = commandsOf('docs/kubernetes.md', 'Watching it', ['watch', 'listNodes']);

export { listNodes, makeNamespace, takeNextBuild, tryIt };

/** The server reads the address of its database, and verifies its certificate with the chart's mounted files. */
export const makeSecretFor = (host: string, password: string): string =>
  replaced(makeSecret, {
    'password@database.example.org/notes?sslmode=verify-full': `${password}@${host}:5432/postgres?sslmode=verify-full&sslrootcert=/etc/scriptorium/tls/ca.crt`,
  });

/** With files in a folder that nodes share, and everything else in this file of values. */
export const installWith = (values: string): string =>
  replaced(install, {
    ...ownImage,
    '--set settings.FILES_STORE=s3 --set settings.FILES_S3_BUCKET=notes-files --set settings.FILES_S3_ACCESS_KEY_ID=notes --set secrets.keys.FILES_S3_SECRET_ACCESS_KEY=s3-key': `--values ${values} ${waiting}`,
  });

/** With these values, parted by commas. */
export const upgradeWith = (values: string): string =>
  `${replaced(takeNextBuild, { 'image.tag=0.2.0': values })} ${waiting}`;

export const upgrade = ({ operator }: Installation, values: string): Promise<string> =>
  operator.run(upgradeWith(values));

/** The workloads whose pods keep running. */
export const setsOfRelease = [
  `deployment/${release}-gateways`,
  `statefulset/${release}-hosts`,
  `statefulset/${release}-nats`,
];

export async function rolledOut({ operator }: Installation): Promise<void> {
  for (const set of setsOfRelease) await operator.rolledOut(set, namespace);
}
