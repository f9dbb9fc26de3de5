/** The schemas of Kubernetes and of custom resources, against which tests check the chart's manifests. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Environment } from './program.ts';
import { findOrMakePython } from './python.ts';

const kubernetesValidate = {
  name: 'kubernetes-validate',
  version: '1.37.0',
  packages: [
    'attrs==26.1.0',
    'importlib_resources==7.1.0',
    'jsonschema==4.26.0',
    'jsonschema-specifications==2025.9.1',
    'kubernetes-validate==1.37.0',
    'packaging==26.3',
    'PyYAML==6.0.3',
    'referencing==0.37.0',
    'rpds-py==2026.9.1',
    'typing_extensions==4.16.0',
  ],
};

/** The Python that has the schemas of Kubernetes. @throws Error, one line, if it cannot be installed */
export const findOrMakeKubernetesValidate = (environment: Environment): string =>
  findOrMakePython(kubernetesValidate, environment);

/** Keyed by Go module: its files that define the custom resources of the chart. */
const definitions: Readonly<Record<string, readonly string[]>> = {
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  ],
  'github.com/cert-manager/cert-manager@v1.21.2': [
    'deploy/crds/cert-manager.io_certificates.yaml',
    'deploy/crds/cert-manager.io_issuers.yaml',
  ],
  'sigs.k8s.io/gateway-api@v1.4.0': ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
};

/** The files, fetched if Go does not have them yet. @throws Error */
export function definitionFiles(): readonly string[] {
  return Object.entries(definitions).flatMap(([module, files]) => {
    const answer = execFileSync('go', ['mod', 'download', '-json', module], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    const { Dir: folder } = JSON.parse(answer) as { readonly Dir: string };
    return files.map((file) => join(folder, file));
  });
}
