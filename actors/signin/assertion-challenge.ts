/**
 * The challenge that a security key signs at sign-in (docs/protocol/account.md, "Security keys"): one for an address,
 * the newest; it counts once and for a few minutes. An address without keys, known or not, is given one all the same.
 */
import { z } from 'zod';
import { lookup, type Turn, workflow } from '../../runtime/command.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { slice } from '../../runtime/slice.ts';
import { accountTable, addressKey } from '../identity/account-table.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { WebAuthnSettings } from '../settings.ts';
import { User } from '../user/contract.ts';
import { Signin } from './contract.ts';
import { expireLater } from './expiry.ts';

const challengeBytes = 32;
const challengeMs = 300_000;
/** What the client waits for a touch. */
const timeoutMs = 60_000;

export const assertionChallengeSlice = slice<{ challenge: string; untilMs: number } | null>({
  name: 'assertion-challenge',
  format: 1,
  schema: z.object({ challenge: z.string(), untilMs: z.number() }).nullable(),
  initial: null,
});

export const offerAssertion = workflow({
  ...Signin.commands.offerAssertion,
  creates: true,
  run: async (workflow, address) => {
    const account = await workflow.turn({
      reads: () => ({ account: lookup(accountTable, [addressKey(address)]) }),
      turn: (_turn, { account }) => account.rows[0],
    });
    const keys = workflow.use(SigninKeys);
    const allowed = await workflow.actors
      .get(User, account?.user_uuid ?? keys.pseudoUser(address))
      .ask.authenticatorsOf(address)
      .then(
        (reply) => reply.allowed,
        (error: unknown) => {
          if (error instanceof NotFoundError) return [];
          throw error;
        },
      );
    const challenge = await workflow.turn({ turn: makeChallenge });
    const pseudo = { id: keys.pseudoCredential(address), type: 'public-key', transports: ['usb'] };
    const options = {
      challenge,
      rpId: workflow.use(WebAuthnSettings).relyingPartyId,
      allowCredentials: allowed.length > 0 ? allowed : [pseudo],
      userVerification: 'preferred',
      timeout: timeoutMs,
    };
    return { ok: { options } };
  },
});

/** Undefined where there is none that still counts. */
export function takeAssertionChallenge(turn: Turn): string | undefined {
  const offered = turn.get(assertionChallengeSlice);
  if (offered === null) return undefined;
  turn.set(assertionChallengeSlice, null);
  return turn.nowMs < offered.untilMs ? offered.challenge : undefined;
}

function makeChallenge(turn: Turn): string {
  const challenge = turn.random.bytes(challengeBytes).toString('base64url');
  turn.set(assertionChallengeSlice, { challenge, untilMs: turn.nowMs + challengeMs });
  expireLater(turn);
  return challenge;
}
