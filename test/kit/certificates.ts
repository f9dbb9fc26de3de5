/** Certificates for tests, encoded by hand (DER, RFC 5280), so that no test of TLS needs an outside program. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  /** Path of the authority's own certificate. */
  readonly ca: string;
  /** Paths of a new certificate for this host and of its key. */
  issue(name: string): Issued;
  remove(): void;
}

export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-certificates-'));
  const write = (file: string, text: string) => {
    const path = join(folder, file);
    writeFileSync(path, text);
    return path;
  };
  const issuer = { name: 'test authority', key: newKeyPair() };
  const ca = certificate(issuer, { name: issuer.name, key: issuer.key.publicKey, extension: isAuthority });
  return {
    ca: write('ca.pem', ca),
    issue(name) {
      const { publicKey, privateKey } = newKeyPair();
      const cert = certificate(issuer, { name, key: publicKey, extension: servesHost(name) });
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      return { cert: write(`${name}.pem`, cert), key: write(`${name}.key`, key) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const newKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

interface Issuer {
  readonly name: string;
  readonly key: { readonly privateKey: KeyObject };
}

interface Subject {
  readonly name: string;
  readonly key: KeyObject;
  readonly extension: Buffer;
}

const dayMs = 86_400_000;

/** As PEM. Valid from yesterday to tomorrow. */
function certificate(issuer: Issuer, subject: Subject): string {
  const nowMs = Date.now();
  const signed = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    commonName(issuer.name),
    sequence(utcTime(nowMs - dayMs), utcTime(nowMs + dayMs)),
    commonName(subject.name),
    subject.key.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(subject.extension)),
  );
  const signature = sign('sha256', signed, issuer.key.privateKey);
  const whole = sequence(signed, ecdsaWithSha256, tagged(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), content]);
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, ...parts);
const identifier = (hex: string) => tagged(0x06, Buffer.from(hex, 'hex'));
const yes = tagged(0x01, Buffer.from([0xff]));

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));

const commonName = (name: string) =>
  sequence(tagged(0x31, sequence(identifier('550403'), tagged(0x0c, Buffer.from(name)))));

/** `YYMMDDhhmmssZ` */
function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  return tagged(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

const isAuthority = sequence(identifier('551d13'), yes, tagged(0x04, sequence(yes)));

const servesHost = (name: string) =>
  sequence(
    identifier('551d11'),
    tagged(0x04, sequence(tagged(0x82, Buffer.from(name)), tagged(0x87, Buffer.from([127, 0, 0, 1])))),
  );
