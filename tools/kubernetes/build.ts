/** Compiles Kubernetes once per machine, in some minutes, because no Debian package has its servers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runGo } from '../go-program.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const version = 'v1.34.4';

/** The folder of the compiled programs. */
export const kubernetesFolder = fileURLToPath(new URL(`../../.cache/kubernetes-${version}`, import.meta.url));

const programs = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-proxy',
  'kubelet',
  'kubectl',
] as const;

/** The version that a build from its repository would set. Without it, nodes and clients call themselves v0.0.0. */
const linkerFlags = [
  '-s -w',
  `-X k8s.io/component-base/version.gitVersion=${version}`,
  '-X k8s.io/component-base/version.gitMajor=1',
  '-X k8s.io/component-base/version.gitMinor=34',
].join(' ');

/** @throws Error, one line */
export function buildKubernetes(): void {
  for (const program of programs) {
    const file = join(kubernetesFolder, program);
    if (existsSync(file)) continue;
    console.log(`Compiling ${program} ${version} ...`);
    const args = ['build', '-buildvcs=false', '-trimpath', '-ldflags', linkerFlags];
    const options = { cwd: folder, env: { CGO_ENABLED: '0' } };
    runGo(program, [...args, '-o', file, `k8s.io/kubernetes/cmd/${program}`], options);
  }
}
