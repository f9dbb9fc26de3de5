/** A security key in software: it makes credentials and signs assertions in the form that a browser passes on. */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Device } from './device.ts';
import { jwkOf } from './jwk.ts';

export interface SecurityKeyOptions {
  readonly origin?: string;
  readonly relyingPartyId?: string;
  /** By a PIN or a finger. */
  readonly verifiesUser?: boolean;
}

/** WebAuthn's attestation: its format and its statement. */
export interface Attestation {
  readonly format: string;
  readonly statement: ReadonlyMap<string, unknown>;
}

const noAttestation: Attestation = { format: 'none', statement: new Map() };

export class SecurityKey {
  readonly id = randomBytes(32).toString('base64url');
  readonly #origin: string;
  readonly #relyingPartyId: string;
  /** Its flag. */
  readonly #verified: number;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  /** In the form of a certificate. */
  get publicKey(): Buffer {
    return this.#publicKey.export({ type: 'spki', format: 'der' });
  }

  /** The count of the last signature. Tests set it back to simulate a cloned key. */
  counter = 0;

  constructor({
    origin = 'https://notes.test',
    relyingPartyId = 'notes.test',
    verifiesUser = false,
  }: SecurityKeyOptions = {}) {
    this.#verified = verifiesUser ? 0x04 : 0;
    this.#origin = origin;
    this.#relyingPartyId = relyingPartyId;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
  }

  /** The result of `navigator.credentials.create`. `proof`: the key's statement about its maker, by default none. */
  register(
    challenge: string,
    proof: (clientData: Buffer) => Attestation = () => noAttestation,
  ): Record<string, unknown> {
    const clientData = this.#clientData('webauthn.create', challenge);
    const { format, statement } = proof(clientData);
    const attestationObject = cbor(
      new Map<string, unknown>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', Buffer.concat([this.#authenticatorData(0x41), this.#credentialData()])],
      ]),
    );
    return this.#response({
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['usb'],
    });
  }

  /** The result of `navigator.credentials.get`. */
  sign(challenge: string): Record<string, unknown> {
    this.counter += 1;
    const clientData = this.#clientData('webauthn.get', challenge);
    const authenticatorData = this.#authenticatorData(0x01);
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
    return this.#response({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: createSign('sha256').update(signed).sign(this.#privateKey).toString('base64url'),
    });
  }

  #response(response: object): Record<string, unknown> {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response };
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }));
  }

  #authenticatorData(flags: number): Buffer {
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags | this.#verified, 0);
    rest.writeUInt32BE(this.counter, 1);
    return Buffer.concat([createHash('sha256').update(this.#relyingPartyId).digest(), rest]);
  }

  /** As servers keep it: in COSE. */
  get storedPublicKey(): Buffer {
    const { x = '', y = '' } = jwkOf(this.#publicKey);
    const publicKey = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    return cbor(publicKey);
  }

  #credentialData(): Buffer {
    const id = Buffer.from(this.id, 'base64url');
    const idLength = Buffer.from([id.length >> 8, id.length & 0xff]);
    return Buffer.concat([Buffer.alloc(16), idLength, id, this.storedPublicKey]);
  }
}

/** Gives the account of this device a security key as its second factor. */
export async function addSecurityKey(device: Device): Promise<void> {
  const { options } = (await device.call('GET', '/v1/authenticators/generate-registration-options')).body;
  const body = { attestationResponse: new SecurityKey().register(options.challenge) };
  const added = await device.call('POST', '/v1/authenticators/verify-registration', { body });
  if (added.status !== 200) throw new Error(added.text);
}

/** As much CBOR as a credential needs. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  if (!(value instanceof Map)) throw new TypeError('no such CBOR here');
  return Buffer.concat([head(5, value.size), ...[...value].flat().map(cbor)]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
}
