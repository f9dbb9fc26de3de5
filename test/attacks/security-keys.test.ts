/** Fake security keys, and attackers who know the address of a user with a real one. */
import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { challengeOf, signIn } from '../kit/account.ts';
import { SecurityKey } from '../kit/security-key.ts';
import { startServer } from '../kit/server.ts';

const keys = '/v1/authenticators';

test('a key whose certificate names an address has nothing fetched from there', async (t) => {
  const requests: (string | undefined)[] = [];
  const inside = createServer((request, response) => {
    requests.push(request.url);
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
  t.deepEqual(requests, []);
  t.is(added.status, 200, added.text);
});

async function withSecurityKey(t: ExecutionContext, home = '203.0.113.7') {
  const server = await startServer(t);
  const phone = await server.device();
  t.is((await signIn(server, { ...phone.account }, { headers: { 'x-forwarded-for': home } })).status, 200);
  const { options } = (await phone.call('GET', `${keys}/generate-registration-options`)).body;
  const key = new SecurityKey();
  const body = { attestationResponse: key.register(options.challenge) };
  t.is((await phone.call('POST', `${keys}/verify-registration`, { body })).status, 200);
  const { email } = phone.account;
  const offer = async (address: string): Promise<string> => {
    const path = `${keys}/generate-authentication-options`;
    const call = { body: { username: email }, headers: { 'x-forwarded-for': address } };
    return (await server.call('POST', path, call)).body.options.challenge;
  };
  const present = async (address: string, authenticator_response: unknown) => {
    const body = { email, code_challenge: challengeOf('mine'), authenticator_response };
    const call = { body, headers: { 'x-forwarded-for': address } };
    return (await server.call('POST', '/v2/login-params', call)).status;
  };
  return { key, offer, present };
}

test('a stranger who asks for challenges or presents nonsense undoes no challenge of the owner', async (t) => {
  const { key, offer, present } = await withSecurityKey(t);
  const challenge = await offer('203.0.113.7');
  await offer('198.51.100.1');
  t.is(await present('198.51.100.1', { id: 'nonsense' }), 401);
  t.is(await present('203.0.113.7', key.sign(challenge)), 200);
});

test('a challenge that was asked for from one network is answered from another, once', async (t) => {
  const { key, offer, present } = await withSecurityKey(t);
  const assertion = key.sign(await offer('2001:db8:1::7'));
  t.is(await present('198.51.100.1', assertion), 200);
  t.is(await present('2001:db8:1::7', assertion), 401);
});

test('strangers of many networks undo no challenge of a known network', async (t) => {
  const home = '192.0.2.1';
  const { key, offer, present } = await withSecurityKey(t, home);
  const challenge = await offer(home);
  for (let n = 0; n < 100; n += 1) await offer(`198.51.100.${n}`);
  t.is(await present(home, key.sign(challenge)), 200);
});

/** A certificate of the key, and of a made-up root for it, which names `url` as its revocation list. */
function chainThatNames(url: string, key: SecurityKey, clientData: Buffer): readonly Buffer[] {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rootKey = root.publicKey.export({ type: 'spki', format: 'der' });
  const ofKey = extensions([
    ['551d1f', sequence(sequence(der(0xa0, der(0xa0, der(0x86, Buffer.from(url))))))],
    // The statement of Android's key store about a key: here only the digest of the signed data.
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
