/** The account commands of the `user` actor (auth.md 5, 7 to 9). */
import { z } from 'zod';
import { type FlowCommand, flow, keys } from '../../../runtime/command.ts';
import type { UserServices } from '../../services.ts';
import { SigninGuard } from '../../signin/guard.ts';
import { isRefused } from '../refusal.ts';
import { type Credentials, credentialsSchema } from '../sessions/credentials.ts';
import { authenticate, type SignedInReply, signedInReplySchema } from '../signed-in.ts';
import { accountTable } from './account-table.ts';
import { changeCredentialsCommand } from './change-credentials.ts';
import { deleteAccountCommand } from './delete-account.ts';
import { fullKeyParams, type KeyParams, keyParamsSchema } from './key-params.ts';
import { openSessionCommand } from './open-session.ts';
import { registerCommand } from './register.ts';

export function accountCommands(services: UserServices) {
  return {
    register: registerCommand(services),
    openSession: openSessionCommand(services),
    keyParams: keyParamsCommand(services),
    changeCredentials: changeCredentialsCommand(services),
    deleteAccount: deleteAccountCommand(services),
  };
}

/**
 * `login-params` of a signed-in caller (auth.md 5.2): the key params of the session's own account in full, no second
 * factor asked, and the challenge stored where the login that follows looks for it.
 */
function keyParamsCommand({
  settings,
  signinKeys,
}: UserServices): FlowCommand<
  { readonly credentials: Credentials; readonly codeChallenge: string },
  SignedInReply<KeyParams>
> {
  return flow({
    request: z.object({ credentials: credentialsSchema, codeChallenge: z.string() }),
    reply: signedInReplySchema(keyParamsSchema),
    run: async (flow, { credentials, codeChallenge }) => {
      const begun = await flow.turn({
        reads: (view) => ({ account: keys(accountTable, [{ user_uuid: view.self.id }]) }),
        turn: (turn, { account }) => {
          const signedIn = authenticate(turn, turn.nowMs, credentials, settings);
          if (isRefused(signedIn)) return signedIn;
          const row = account.get({ user_uuid: turn.self.id });
          if (row === undefined) throw new Error('an active account has no row');
          return { caller: signedIn.caller, row };
        },
      });
      if (isRefused(begun)) return begun;
      const { identifier, workspace } = begun.row;
      const guard = flow.actors.get(SigninGuard, signinKeys.actorId({ email: identifier, workspace }));
      await guard.ask.storeChallenge({ codeChallenge });
      return { caller: begun.caller, reply: fullKeyParams(begun.row) };
    },
  });
}
