/**
 * The `signin` kind: one actor per address, known or not (design section 6). It owns what guards an account from
 * outside: the counters of failed attempts and the challenges that wait for their verifier.
 *
 * An unknown address takes the same turns, the same commits and the same hash work as a known one and gets answers
 * of the same shape. When nothing it holds counts any more the actor is buried; the next request revives it.
 */
import { z } from 'zod';
import { command, lookup, tell } from '../../runtime/command.ts';
import { type KindRef, kind } from '../../runtime/kind.ts';
import type { SigninServices } from '../services.ts';
import { accountTable, addressKey } from '../user/account/account-table.ts';
import { keyParamsSchema, publicKeyParams } from '../user/account/key-params.ts';
import { attemptsSlice, noAttempts } from './attempts.ts';
import { challengeMap, storeChallenge } from './challenges.ts';
import { expireLater, expireTimer } from './expiry.ts';
import { debitCommand, storeChallengeCommand } from './guard.ts';
import { loginCommand } from './login.ts';

/** Of an account that does not exist (auth.md 5.2): always the newest protocol, always the same nonce. */
const pseudoVersion = '004';

export function createSigninKind(services: SigninServices) {
  const { settings, signinKeys } = services;
  return kind({
    name: 'signin',
    revivable: true,
    slices: [attemptsSlice, challengeMap],
    commands: {
      /** The key params of an address, in the form anybody gets. No errors: an unknown address has pseudo ones. */
      loginParams: command({
        request: z.object({ email: z.string(), workspace: z.string(), codeChallenge: z.string() }),
        reply: keyParamsSchema,
        creates: true,
        reads: (_view, address) => ({ account: lookup(accountTable, [addressKey(address)]) }),
        turn: (turn, { codeChallenge, ...address }, { account }) => {
          // Second factors gate here: a refusal returns before the challenge is stored, and without a stored
          // challenge no login passes. As long as no account can have a factor, none is asked for in vain either:
          // a made-up one would tell unknown addresses from known ones.
          storeChallenge(turn, codeChallenge, settings.challengeAgeMs);
          expireLater(turn);
          const [row] = account.rows;
          if (row !== undefined) return publicKeyParams(row);
          const pw_nonce = signinKeys.pseudoNonce(address);
          return { identifier: address.email, pw_nonce, version: pseudoVersion };
        },
      }),

      login: loginCommand(services),
      storeChallenge: storeChallengeCommand(services),
      debit: debitCommand(services),
    },
    timers: { expire: expireTimer },
    tells: {
      /** Signing in, or a password given by a signed-in caller, was right: all attempts are given back. */
      reset: tell({
        payload: z.null(),
        turn: (turn) => turn.set(attemptsSlice, noAttempts),
      }),
    },
  });
}

export type SigninCommands = ReturnType<typeof createSigninKind>['commands'];
export const Signin: KindRef<SigninCommands> = { name: 'signin' };
