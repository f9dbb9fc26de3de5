/** Authorities and their certificates, made with openssl, as without cert-manager. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Signed {
  readonly certificate: string;
  readonly key: string;
}

const openssl = (command: string): void =>
  void execFileSync('openssl', command.split(' '), { stdio: 'pipe' });
const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';

export class Authority {
  readonly certificate: string;
  readonly #folder: string;

  constructor(folder: string, name: string) {
    this.#folder = join(folder, name);
    mkdirSync(this.#folder, { recursive: true });
    const { keyFile, certificateFile } = this.#files('authority');
    openssl(`req -x509 ${newKey} -keyout ${keyFile} -out ${certificateFile} -days 10 -subj /CN=${name}`);
    this.certificate = readFileSync(certificateFile, 'utf8');
  }

  sign(name: string, hosts: readonly string[] = []): Signed {
    const { keyFile, certificateFile } = this.#files(name);
    const request = join(this.#folder, `${name}.csr`);
    const extensions = join(this.#folder, `${name}.ext`);
    const names = hosts.map((host) => `DNS:${host}`).join();
    const usage = 'extendedKeyUsage=serverAuth,clientAuth\n';
    writeFileSync(extensions, names === '' ? usage : `${usage}subjectAltName=${names}\n`);
    openssl(`req ${newKey} -keyout ${keyFile} -out ${request} -subj /CN=${name}`);
    const authority = this.#files('authority');
    const by = `-CA ${authority.certificateFile} -CAkey ${authority.keyFile} -CAcreateserial`;
    openssl(`x509 -req -in ${request} ${by} -out ${certificateFile} -days 5 -extfile ${extensions}`);
    return { certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }

  #files(name: string): { readonly keyFile: string; readonly certificateFile: string } {
    return { keyFile: join(this.#folder, `${name}.key`), certificateFile: join(this.#folder, `${name}.crt`) };
  }
}
