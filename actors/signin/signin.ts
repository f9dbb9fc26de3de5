/**
 * The `signin` kind. An unknown address takes the same turns, the same commits and the same hash work as a known one
 * and gets answers of the same shape. When nothing it holds counts any more the actor becomes a tombstone; the next
 * request revives it.
 */
import { command, lookup, tell } from '../../runtime/command.ts';
import { kindOf } from '../../runtime/kind.ts';
import { accountTable, addressKey } from '../identity/account-table.ts';
import { CaptchaVerifier } from '../identity/captcha.ts';
import { publicKeyParams } from '../identity/key-params.ts';
import { PasswordHasher } from '../identity/password-hasher.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { AccountSettings } from '../settings.ts';
import { attemptsMap } from './attempts.ts';
import { challengeMap, storeChallenge as store } from './challenges.ts';
import { Signin } from './contract.ts';
import { forgetAttempts, originOf, recognise } from './counting.ts';
import { expireLater, expireTimer } from './expiry.ts';
import { debit, storeChallenge } from './guard.ts';
import { forgetKnown, knownDeviceMap, knownNetworkMap } from './known.ts';
import { login } from './login.ts';
import { strangersSlice } from './strangers.ts';

/**
 * Of an account that does not exist (docs/protocol/authentication.md, "Login params"): always the newest protocol,
 * always the same nonce.
 */
const pseudoVersion = '004';

const loginParams = command({
  ...Signin.commands.loginParams,
  creates: true,
  reads: (_view, address) => ({ account: lookup(accountTable, [addressKey(address)]) }),
  turn: (turn, { codeChallenge, ipAddress = null, cookieSessions, ...address }, { account }) => {
    // Second factors gate here: a refusal returns before the challenge is stored, and without a stored
    // challenge no login passes. As long as no account can have a factor, none is asked for in vain either:
    // a made-up one would tell unknown addresses from known ones.
    store(
      turn,
      codeChallenge,
      originOf(turn, { ipAddress, cookieSessions }),
      turn.use(AccountSettings).challengeAgeMs,
    );
    expireLater(turn);
    const [row] = account.rows;
    if (row !== undefined) return { ok: publicKeyParams(row) };
    const pw_nonce = turn.use(SigninKeys).pseudoNonce(address);
    return { ok: { identifier: address.email, pw_nonce, version: pseudoVersion } };
  },
});

export const signin = kindOf(Signin, {
  revivable: true,
  uses: [AccountSettings, SigninKeys, PasswordHasher, CaptchaVerifier],
  slices: [attemptsMap, strangersSlice, knownNetworkMap, knownDeviceMap, challengeMap],
  tables: [],
  commands: { loginParams, login, storeChallenge, debit },
  timers: { expire: expireTimer },
  tells: {
    reset: tell({ ...Signin.tells.reset, turn: forgetAttempts }),
    recognise: tell({
      ...Signin.tells.recognise,
      creates: true,
      turn: (turn, opened) => {
        recognise(turn, opened);
        expireLater(turn);
      },
    }),
    forget: tell({
      ...Signin.tells.forget,
      turn: (turn) => {
        forgetAttempts(turn);
        forgetKnown(turn, 'all');
        // The timer may be set to when the last of them would have been known no more.
        expireLater(turn);
      },
    }),
  },
});
