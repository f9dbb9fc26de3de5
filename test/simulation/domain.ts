/** The real kinds as the simulation runs them: a hash that costs nothing, and no lock-outs. */
import {
  createKinds,
  createSessionTokens,
  createSigninKeys,
  defaultAccountSettings,
  type PasswordHasher,
} from '../../actors/mod.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import type { Kind } from '../../runtime/kind.ts';
import { counterKind } from './counter.ts';

const keyring = createKeyring(Buffer.alloc(32, 7));
export const tokens = createSessionTokens(keyring.derive('session-token'));
export const signinKeys = createSigninKeys(keyring);

const hasher: PasswordHasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hashed, password) => hashed === `hash of ${password}`,
};

export function simulatedKinds(accessTokenAgeMs: number, pageBytes: number): readonly Kind[] {
  const attempts = { plainAttemptsMax: 10_000, captchaAttemptsMax: 10_000 };
  const settings = { ...defaultAccountSettings, ...attempts, accessTokenAgeMs };
  const items = { generation: 'simulated', contentLimitBytes: 1_000_000, transferLimitBytes: pageBytes };
  return [...createKinds({ settings, items, tokens, signinKeys, hasher }), counterKind];
}
