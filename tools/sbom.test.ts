import test from 'ava';
import { sbomWith } from './sbom.ts';

const status = `Package: libstdc++6
Status: install ok installed
Architecture: amd64
Multi-Arch: same
Source: gcc-14 (14.2.0-1)
Version: 14.2.0-19
Description: GNU Standard C++ Library v3
 Package: this line is of the description
 Version: likewise

Package: passwd
Status: deinstall ok config-files
Architecture: amd64
Version: 1:4.17.4-2

Package: postgresql-client-17
Version: 17.6-0+deb13u1
Architecture: amd64
Status: install ok installed
`;

test('the list of what the image is made of has Node.js and the installed packages of its system beside those of npm', (t) => {
  const ofNpm = {
    'bom-ref': 'zod@4.0.0',
    type: 'library',
    name: 'zod',
    version: '4.0.0',
    purl: 'pkg:npm/zod@4.0.0',
  };
  const { components = [], ...others } = sbomWith(
    { bomFormat: 'CycloneDX', components: [ofNpm] },
    '24.11.0',
    status,
  );
  t.deepEqual(others, { bomFormat: 'CycloneDX' });
  const [first, ...added] = components as readonly { readonly purl: string; readonly 'bom-ref': string }[];
  t.is(first, ofNpm);
  t.deepEqual(
    added.map(({ purl }) => purl),
    [
      'pkg:generic/node@24.11.0',
      'pkg:deb/debian/libstdc%2B%2B6@14.2.0-19?arch=amd64',
      'pkg:deb/debian/postgresql-client-17@17.6-0%2Bdeb13u1?arch=amd64',
    ],
  );
  t.deepEqual(added[2], {
    type: 'library',
    'bom-ref': 'pkg:deb/debian/postgresql-client-17@17.6-0%2Bdeb13u1?arch=amd64',
    name: 'postgresql-client-17',
    version: '17.6-0+deb13u1',
    purl: 'pkg:deb/debian/postgresql-client-17@17.6-0%2Bdeb13u1?arch=amd64',
  } as never);
});
