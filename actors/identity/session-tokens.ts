/**
 * Session tokens. They name their user, so routing needs no look-up:
 *
 *     1:<userUuid>.<sessionUuid>.<mac>:<secret>       header style, the secret is in the token
 *     2:<userUuid>.<privateIdentifier>.<mac>          cookie style, the secrets come in cookies
 *
 * `mac` is the first 16 bytes of HMAC-SHA-256 over the text before its dot, base64url; `secret` is 32 random
 * bytes, base64url. The MAC proves that this server made the token for that user and session, and nothing more. The user's actor
 * decides whether the session still lives.
 *
 * Every signed-in request passes through here before its body is read, so it must cost next to nothing.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { dependency } from '../../runtime/dependency.ts';

/** 1: header style. 2: cookie style. */
export type SessionStyle = 1 | 2;

/** The contents of a token and its cookies, once the MAC is verified. */
export const credentialsSchema = z.object({
  userUuid: z.string(),
  /** `lane`: of a socket that was opened by a ticket. No token has this style. */
  style: z.union([z.literal(1), z.literal(2), z.literal('lane')]),
  /** The session uuid (style 1, lane) or the private identifier (style 2). */
  identifier: z.string(),
  /**
   * The secrets to try. Style 1 has exactly one. Style 2 has one for each cookie, named by `namedSecret`. The lane has the name
   * (`pairName`) of the pair of secrets that its ticket was issued for.
   */
  secrets: z.array(z.string()).readonly(),
});
export type Credentials = Readonly<z.infer<typeof credentialsSchema>>;

export const secretBytes = 32;

/** A secret with the session that its cookie is named for. */
export const namedSecret = (sessionUuid: string, secret: string): string => `${sessionUuid}=${secret}`;

export interface SessionTokens {
  /** Both tokens of a style 1 session are of this form, each with its own secret. */
  mintHeaderToken(userUuid: string, sessionUuid: string, secret: string): string;
  /** The one text that is both tokens of a style 2 session for its whole life. */
  mintCookieToken(userUuid: string, privateIdentifier: string): string;
  /**
   * Reads a token (a bearer without `Bearer `, or a token of a refresh body). Undefined if it is malformed or not of this server.
   * `cookieSecrets`: the secrets from cookies, to try for a style 2 token.
   */
  verify(token: string, cookieSecrets?: readonly string[]): Credentials | undefined;
}
export const SessionTokens = dependency<SessionTokens>('the session tokens');

const headerToken = /^(1:([0-9a-f-]{36})\.([0-9a-f-]{36}))\.([\w-]{22}):([\w-]{43})$/;
const cookieToken = /^(2:([0-9a-f-]{36})\.([0-9a-f]{32}))\.([\w-]{22})$/;
const tokenCharactersMax = 256;

/** `key` has 32 bytes, derived for this purpose alone. */
export function createSessionTokens(key: Buffer): SessionTokens {
  const mac = createMac(key);

  function verifyHeaderToken(token: string): Credentials | undefined {
    const [, signed = '', userUuid = '', identifier = '', proof = '', secret = ''] =
      headerToken.exec(token) ?? [];
    if (!equalInConstantTime(proof, mac(signed))) return undefined;
    return { userUuid, style: 1, identifier, secrets: [secret] };
  }

  function verifyCookieToken(token: string, secrets: readonly string[]): Credentials | undefined {
    const [, signed = '', userUuid = '', identifier = '', proof = ''] = cookieToken.exec(token) ?? [];
    if (!equalInConstantTime(proof, mac(signed))) return undefined;
    return { userUuid, style: 2, identifier, secrets };
  }

  return {
    mintHeaderToken(userUuid, sessionUuid, secret) {
      const signed = `1:${userUuid}.${sessionUuid}`;
      return `${signed}.${mac(signed)}:${secret}`;
    },
    mintCookieToken(userUuid, privateIdentifier) {
      const signed = `2:${userUuid}.${privateIdentifier}`;
      return `${signed}.${mac(signed)}`;
    },
    verify(token, cookieSecrets = []) {
      if (token.length > tokenCharactersMax) return undefined;
      return token.startsWith('2:') ? verifyCookieToken(token, cookieSecrets) : verifyHeaderToken(token);
    },
  };
}

const blockBytes = 64;
const digestBytes = 32;

/**
 * HMAC-SHA-256 by its definition over two one-shot hashes, cut to 16 bytes, base64url. `createHmac` makes a
 * native object per call and takes nearly twice as long.
 */
function createMac(key: Buffer): (text: string) => string {
  const inner = Buffer.alloc(blockBytes + tokenCharactersMax);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  for (let index = 0; index < blockBytes; index += 1) {
    inner[index] = (key[index] ?? 0) ^ 0x36;
    outer[index] = (key[index] ?? 0) ^ 0x5c;
  }
  return (text) => {
    const end = blockBytes + inner.write(text, blockBytes, 'latin1');
    outer.write(hash('sha256', inner.subarray(0, end), 'binary'), blockBytes, 'latin1');
    // 16 bytes are 21 characters and two bits of the next, whose other four are cleared.
    return Buffer.from(hash('sha256', outer, 'hex').slice(0, 32), 'hex').toString('base64url');
  };
}

/** Compares in a time that depends on the lengths alone. */
export function equalInConstantTime(actual: string, expected: string): boolean {
  let difference = actual.length ^ expected.length;
  for (let index = 0; index < expected.length; index += 1) {
    difference |= actual.charCodeAt(index) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}
