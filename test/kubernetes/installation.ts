/** An installation of the chart as its operator has it, and what he does to it most. */
import type { Authority } from './certificates.ts';
import type { Operator } from './kubectl.ts';
import type { Node } from './machine/node.ts';
import { namespace } from './surroundings.ts';

export interface Installation {
  readonly operator: Operator;
  readonly nodes: readonly Node[];
  /** Whose certificates the installation began with. */
  readonly authority: Authority;
  readonly folder: string;
  /** Of its Service. */
  readonly url: string;
}

export const release = 'notes-scriptorium';
export const natsHosts = [`*.${release}-nats.${namespace}.svc`];

export const upgrade = ({ operator }: Installation, ...settings: readonly string[]): Promise<string> => {
  const set = settings.flatMap((setting) => ['--set', setting]);
  const options = ['--namespace', namespace, '--reset-then-reuse-values', '--wait', '--timeout', '10m'];
  return operator.helm('upgrade', 'notes', 'helm', ...options, ...set);
};

/** What makes pods that live on. */
export const setsOfRelease = [
  `deployment/${release}-gateways`,
  `statefulset/${release}-hosts`,
  `statefulset/${release}-nats`,
];

export async function rolledOut({ operator }: Installation): Promise<void> {
  for (const set of setsOfRelease) await operator.rolledOut(set, namespace);
}
