/**
 * The tools that work with keys derived from the root secret. Hosts and gateways make them once from the same secret, so that each
 * verifies what the other signs.
 */
import type { Keyring } from '../../runtime/keyring.ts';
import type { Random } from '../../runtime/random.ts';
import { createBridgeTokens } from './bridge-tokens.ts';
import { createCalendarTokens } from './calendar-tokens.ts';
import { createSessionTokens } from './session-tokens.ts';
import { createShareIds } from './share-ids.ts';
import { createSigninKeys } from './signin-keys.ts';
import { createSubscriptionTokens } from './subscription-tokens.ts';
import { createUserSecrets } from './user-secrets.ts';
import { createValetTokens } from './valet-tokens.ts';

export type KeyedTools = ReturnType<typeof createKeyedTools>;

export const createKeyedTools = (keyring: Keyring, random: Random) => ({
  sessionTokens: createSessionTokens(keyring.derive('session-token')),
  signinKeys: createSigninKeys(keyring),
  userSecrets: createUserSecrets(keyring),
  bridgeTokens: createBridgeTokens(keyring),
  calendarTokens: createCalendarTokens(keyring),
  subscriptionTokens: createSubscriptionTokens(keyring),
  shareIds: createShareIds(keyring),
  valetTokens: createValetTokens(keyring, random),
});
