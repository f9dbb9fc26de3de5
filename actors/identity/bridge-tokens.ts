/**
 * Tokens of bridges: programs that sign in without e-mail and password (docs/protocol/account.md, "Bridge tokens").
 *
 *     <tokenUuid>.<user>-<mac>-<secret>
 *
 * Clients see `<uuid>.<auth-secret>` and do not look into the second half. A token names its user, so signing in needs no
 * look-up. It carries a MAC, so a guess wakes no actor.
 */
import { createHmac } from 'node:crypto';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import type { Refusal } from '../reply.ts';
import { equalInConstantTime } from './session-tokens.ts';
import { dashed } from './uuid-text.ts';

/** The one refusal for every defect of a token. */
export const invalidBridgeToken: Refusal = { reason: 'unauthenticated', message: 'Invalid MCP token' };

interface BridgeToken {
  readonly userUuid: string;
  readonly tokenUuid: string;
  readonly secret: string;
}

export interface BridgeTokens {
  mint(token: BridgeToken): string;
  /** Undefined if it is malformed or not of this server. */
  verify(text: string): BridgeToken | undefined;
}
export const BridgeTokens = dependency<BridgeTokens>('the tokens of bridges');

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const form = new RegExp(`^(${uuid})\\.([0-9a-f]{32})-([0-9a-f]{32})-([\\w-]{43})$`);
const charactersMax = 200;

export function createBridgeTokens(keyring: Keyring): BridgeTokens {
  const key = keyring.derive('bridge-token');
  const macOf = (tokenUuid: string, user: string) =>
    createHmac('sha256', key).update(`${tokenUuid}.${user}`).digest('hex').slice(0, 32);
  return {
    mint({ userUuid, tokenUuid, secret }) {
      const user = userUuid.replaceAll('-', '');
      return `${tokenUuid}.${user}-${macOf(tokenUuid, user)}-${secret}`;
    },
    verify(text) {
      if (text.length > charactersMax) return undefined;
      const [, tokenUuid = '', user = '', mac = '', secret = ''] = form.exec(text) ?? [];
      if (!equalInConstantTime(mac, macOf(tokenUuid, user))) return undefined;
      return { userUuid: dashed(user), tokenUuid, secret };
    },
  };
}
