/**
 * Subscription tokens (docs/protocol/account.md, "Subscription tokens"). For three hours a token shows the subscription and the
 * features of one account, and nothing else, to a caller who is not signed in.
 *
 *     <user, 32 hex><version of its credentials, 8 hex><end in seconds, 12 hex><mac, 32 hex>
 *
 * It names its user, so a request needs no look-up. It carries a MAC, so a guess wakes no actor. Nothing of it is stored: the
 * user's actor checks that the account and its credentials are still the ones it was made for.
 */
import { createHmac } from 'node:crypto';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import type { Refusal } from '../reply.ts';
import { equalInConstantTime } from './session-tokens.ts';
import { dashed } from './uuid-text.ts';

/** The one refusal for every defect of a token. */
export const invalidSubscriptionToken: Refusal = {
  reason: 'unauthenticated',
  tag: 'invalid-auth',
  message: 'Invalid subscription token.',
};

export interface SubscriptionClaims {
  readonly userUuid: string;
  readonly credentialsVersion: number;
  /** Whole seconds since the epoch. */
  readonly endsSeconds: number;
}

export interface SubscriptionTokens {
  mint(claims: SubscriptionClaims): string;
  /** Undefined if it is malformed or not of this server. It may have expired. */
  verify(token: string): SubscriptionClaims | undefined;
}
export const SubscriptionTokens = dependency<SubscriptionTokens>('the subscription tokens');

export const subscriptionTokenAgeMs = 3 * 3_600_000;

const form = /^(([0-9a-f]{32})([0-9a-f]{8})([0-9a-f]{12}))([0-9a-f]{32})$/;

export function createSubscriptionTokens(keyring: Keyring): SubscriptionTokens {
  const key = keyring.derive('subscription-token');
  const macOf = (signed: string) => createHmac('sha256', key).update(signed).digest('hex').slice(0, 32);
  return {
    mint({ userUuid, credentialsVersion, endsSeconds }) {
      const user = userUuid.replaceAll('-', '');
      const signed = `${user}${hex(credentialsVersion, 8)}${hex(endsSeconds, 12)}`;
      return `${signed}${macOf(signed)}`;
    },
    verify(token) {
      const [, signed = '', user = '', version = '', ends = '', mac = ''] = form.exec(token) ?? [];
      if (!equalInConstantTime(mac, macOf(signed))) return undefined;
      return {
        userUuid: dashed(user),
        credentialsVersion: Number.parseInt(version, 16),
        endsSeconds: Number.parseInt(ends, 16),
      };
    },
  };
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
