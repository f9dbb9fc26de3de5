/**
 * Certificates for tests, made by the openssl command. It is part of the base system of every Linux distribution and
 * of macOS; where it is missing, tests that need it say so and are skipped.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** Of the authority itself. */
  readonly ca: string;
  /** Paths of a new certificate for this host and of its key. */
  issue(name: string): Issued;
  remove(): void;
}

export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-certificates-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const dates = ['-days', '2'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    ...dates,
    '-subj',
    '/CN=test authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  return {
    ca: at('ca.pem'),
    issue(name) {
      const [cert, key, request] = [at(`${name}.pem`), at(`${name}.key`), at(`${name}.csr`)];
      openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', request);
      writeFileSync(at('extensions'), `subjectAltName=DNS:${name},IP:127.0.0.1\n`);
      openssl(
        'x509',
        '-req',
        '-in',
        request,
        '-CA',
        at('ca.pem'),
        '-CAkey',
        at('ca.key'),
        '-CAcreateserial',
        ...dates,
        '-extfile',
        at('extensions'),
        '-out',
        cert,
      );
      return { cert, key };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
