/**
 * What is derived from an address (a normalised e-mail and its workspace) under keys of this server, so that no
 * address stands in plain in an actor's id or a log, and so that an unknown address has key params that look like
 * real ones and never change (docs/protocol/authentication.md, "Login params").
 */
import { createHmac } from 'node:crypto';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';

export interface SignInAddress {
  /** Trimmed and in lower case. */
  readonly email: string;
  readonly workspace: string;
}

export interface SigninKeys {
  /** The id of the `signin` actor of an address: 64 hex characters. */
  actorId(address: SignInAddress): string;
  /** The id of the `signin` actor that counts the wrong passwords of an account's own signed-in callers. */
  guardId(userUuid: string): string;
  /** By what the `signin` actor of this id keeps a network: nobody who reads it learns where its owner lives. */
  networkKey(actorId: string, network: string): string;
  /** The nonce an unknown address is answered with: 64 hex characters, the form of a client's own. */
  pseudoNonce(address: SignInAddress): string;
}
export const SigninKeys = dependency<SigninKeys>('the keys of sign-in addresses');

export function createSigninKeys(keyring: Keyring): SigninKeys {
  const actorKey = keyring.derive('signin-actor');
  const guardKey = keyring.derive('signed-in-guard');
  const networkKey = keyring.derive('signin-network');
  const nonceKey = keyring.derive('pseudo-key-params');
  return {
    actorId: (address) => addressHmac(actorKey, address),
    guardId: (userUuid) => createHmac('sha256', guardKey).update(userUuid).digest('hex'),
    networkKey: (actorId, network) =>
      createHmac('sha256', networkKey).update(`${actorId}\u0000${network}`).digest('base64url').slice(0, 22),
    pseudoNonce: (address) => addressHmac(nonceKey, address),
  };
}

function addressHmac(key: Buffer, { email, workspace }: SignInAddress): string {
  return createHmac('sha256', key).update(`${workspace}\u0000${email}`).digest('hex');
}
