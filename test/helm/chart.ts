/** The chart, rendered as Helm renders it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import yaml from 'js-yaml';
import { buildHelm, helmProgram } from '../../tools/programs.ts';

const run = promisify(execFile);

export const chartFolder = new URL('../../helm/', import.meta.url).pathname;

/** Loosely typed: `test/helm/schemas.test.ts` checks all of them against the schemas of Kubernetes. */
// biome-ignore lint/suspicious/noExplicitAny: a manifest has whatever shape its kind has
export type Tree = any;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [key: string]: Tree };
  readonly [key: string]: Tree;
}

export type Values = Readonly<Record<string, unknown>>;

export interface Rendering {
  readonly values: Values;
  readonly presets?: readonly ('small' | 'cluster')[];
  readonly release?: string;
  readonly flags?: readonly string[];
}

/** Helm's assumption about a cluster that it cannot see. */
const kubernetesVersion = '1.34.0';

/** Helm's own message if it refuses. @throws Error */
export async function helm(args: readonly string[]): Promise<string> {
  buildHelm();
  try {
    const { stdout } = await run(helmProgram, [...args, '--kube-version', kubernetesVersion], {
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    throw new Error((error as { stderr?: string }).stderr ?? String(error));
  }
}

/** With a file of these values. */
export async function withValues<T>(values: Values, use: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-helm-'));
  try {
    const file = join(folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error with Helm's message */
export async function render({
  values,
  presets = [],
  release = 'notes',
  flags = [],
}: Rendering): Promise<readonly Manifest[]> {
  const files = presets.flatMap((preset) => ['--values', join(chartFolder, 'presets', `${preset}.yaml`)]);
  const text = await withValues(values, (file) =>
    helm(['template', release, chartFolder, '--namespace', 'apps', ...files, '--values', file, ...flags]),
  );
  return manifestsOf(text);
}

export const manifestsOf = (text: string): readonly Manifest[] =>
  yaml.safeLoadAll(text).filter((of) => of !== null) as readonly unknown[] as readonly Manifest[];

/** The only one. @throws Error */
export function the(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter(
    (of) => of.kind === kind && (name === undefined || of.metadata.name === name),
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const names = manifests.map((of) => `${of.kind} ${of.metadata.name}`).join(', ');
  throw new Error(`${found.length} of ${kind} ${name ?? ''} among ${names}`);
}

/** The pod template of any workload. */
export function podOf(manifest: Manifest): Tree {
  const { kind, spec } = manifest;
  if (kind === 'Pod') return manifest;
  return kind === 'CronJob' ? spec.jobTemplate.spec.template : spec.template;
}

export const makesPods = ({ kind }: Manifest): boolean =>
  ['Deployment', 'StatefulSet', 'Job', 'CronJob', 'Pod'].includes(kind);
