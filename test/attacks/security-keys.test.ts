/** Security keys that are none, and strangers who know the address of somebody with a real one. */
import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { SecurityKey } from '../kit/security-key.ts';
import { startServer } from '../kit/server.ts';

const keys = '/v1/authenticators';

test('a key whose certificate names an address has nothing fetched from there', async (t) => {
  const asked: (string | undefined)[] = [];
  const inside = createServer((request, response) => {
    asked.push(request.url);
    response.end('nothing');
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  t.teardown(() => inside.close());
  const { port } = inside.address() as AddressInfo;
  const server = await startServer(t);
  const phone = await server.device();
  const { options } = (await phone.call('GET', `${keys}/generate-registration-options`)).body;
  const key = new SecurityKey();
  const attestationResponse = key.register(options.challenge, (clientData) => ({
    format: 'android-key',
    statement: new Map<string, unknown>([
      ['alg', -7],
      ['sig', Buffer.alloc(70)],
      ['x5c', chainThatNames(`http://127.0.0.1:${port}/revoked`, key, clientData)],
    ]),
  }));
  const added = await phone.call('POST', `${keys}/verify-registration`, { body: { attestationResponse } });
  t.deepEqual(asked, []);
  t.is(added.status, 200, added.text);
});

/** A certificate of the key, and of a root made up for it, which says that `url` lists what it revoked. */
function chainThatNames(url: string, key: SecurityKey, clientData: Buffer): readonly Buffer[] {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rootKey = root.publicKey.export({ type: 'spki', format: 'der' });
  const ofKey = extensions([
    ['551d1f', sequence(sequence(der(0xa0, der(0xa0, der(0x86, Buffer.from(url))))))],
    // What Android's key store says of a key: here only the digest of what was signed.
    ['2b06010401d679020111', keyDescription(createHash('sha256').update(clientData).digest())],
  ]);
  const ofRoot = extensions([['551d13', sequence(der(0x01, Buffer.from([0xff])))]]);
  const sign = (serial: number, subject: string, publicKey: Buffer, extended: Buffer) =>
    certificate({ serial, subject, publicKey, extended, issuerKey: root.privateKey });
  return [sign(2, 'key', key.publicKey, ofKey), sign(1, 'root', rootKey, ofRoot)];
}

interface Certificate {
  readonly serial: number;
  readonly subject: string;
  readonly publicKey: Buffer;
  readonly extended: Buffer;
  readonly issuerKey: KeyObject;
}

const ecdsaWithSha256 = () => sequence(objectId('2a8648ce3d040302'));

function certificate({ serial, subject, publicKey, extended, issuerKey }: Certificate): Buffer {
  const signed = sequence(
    der(0xa0, integer(2)),
    integer(serial),
    ecdsaWithSha256(),
    named('root'),
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    named(subject),
    publicKey,
    der(0xa3, extended),
  );
  const signature = createSign('sha256').update(signed).sign(issuerKey);
  return sequence(signed, ecdsaWithSha256(), der(0x03, Buffer.concat([Buffer.alloc(1), signature])));
}

function keyDescription(challenge: Buffer): Buffer {
  const enumerated = der(0x0a, Buffer.alloc(1));
  const texts = [der(0x04, challenge), der(0x04, Buffer.alloc(0))];
  return sequence(integer(1), enumerated, integer(1), enumerated, ...texts, sequence(), sequence());
}

const extensions = (all: readonly (readonly [id: string, value: Buffer])[]): Buffer =>
  sequence(...all.map(([id, value]) => sequence(objectId(id), der(0x04, value))));
const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name)))));
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));

function der(tag: number, value: Buffer): Buffer {
  const { length } = value;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), value]);
  const size = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}
