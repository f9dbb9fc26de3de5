/**
 * The contents of the image, as one CycloneDX document. It reads npm's list from standard input, and adds Node.js and
 * the packages of the system from the list in its argument.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

interface Component {
  readonly type: 'library' | 'platform';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

export interface Sbom {
  readonly components?: readonly object[];
  readonly [key: string]: unknown;
}

/** `status` is dpkg's file. */
export const sbomWith = (sbom: Sbom, nodeVersion: string, status: string): Sbom => ({
  ...sbom,
  components: [...(sbom.components ?? []), nodeOf(nodeVersion), ...packagesIn(status)],
});

function nodeOf(version: string): Component {
  const purl = `pkg:generic/node@${version}`;
  return { type: 'platform', 'bom-ref': purl, name: 'node', version, purl };
}

const packagesIn = (status: string): readonly Component[] =>
  status.split(/\n\n+/).flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(paragraph)?.[1] ?? '';
    if (field('Status') !== 'install ok installed') return [];
    const [name, version] = [field('Package'), field('Version')];
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${field('Architecture')}`;
    return [{ type: 'library' as const, 'bom-ref': purl, name, version, purl }];
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const sbom: Sbom = JSON.parse(readFileSync(0, 'utf8'));
  const status = readFileSync(process.argv[2] ?? '', 'utf8');
  console.log(JSON.stringify(sbomWith(sbom, process.versions.node, status), undefined, 2));
}
