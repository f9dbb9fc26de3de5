/**
 * The options with which a browser signs in with a security key (docs/protocol/account.md, "Security keys"). An address without
 * keys, known or not, gets made-up ones, so that the answer does not show which addresses have any.
 */
import { workflow } from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { readAccount } from '../identity/account-table.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { WebAuthnSettings } from '../settings.ts';
import { Factors } from '../user/factors/contract.ts';
import { makeAssertionChallenge } from './assertion-challenge.ts';
import { Signin } from './contract.ts';
import { expireLater } from './expiry.ts';
import { takeTurnsOfUser } from './unknown-account.ts';

/** How long the client waits for a touch. */
const timeoutMs = 60_000;

export const offerAssertion = workflow(Signin.commands.offerAssertion, {
  creates: true,
  run: async (workflow, { device, ...address }) => {
    const account = await readAccount(workflow, address);
    const keys = workflow.use(SigninKeys);
    const answer = workflow.actors
      .get(Factors, account?.user_uuid ?? keys.pseudoUser(address))
      .ask.authenticatorsOf({ ...address, isNobody: account === undefined });
    const { allowed } = (await unlessAbsent(answer)) ?? { allowed: [] };
    if (account === undefined) await takeTurnsOfUser(workflow, 1);
    const challenge = await workflow.turn({
      turn: (turn) => {
        const made = makeAssertionChallenge(turn, device.ipAddress);
        expireLater(turn);
        return made;
      },
    });
    // The fields are in the same order as those of real keys.
    const pseudo = keys
      .pseudoCredentials(address)
      .map(({ id, transports }) => ({ id, type: 'public-key', transports }));
    const options = {
      challenge,
      rpId: workflow.use(WebAuthnSettings).relyingPartyId,
      allowCredentials: allowed.length > 0 ? allowed : pseudo,
      userVerification: 'preferred',
      timeout: timeoutMs,
    };
    return { ok: { options } };
  },
});
