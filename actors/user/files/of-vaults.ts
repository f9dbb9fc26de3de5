/**
 * What is asked with a token for a file of a shared vault. The user's own actor checks that the session lives and may do this,
 * and asks the vault, which checks that the user is a member who may.
 */
import {
  type ChoiceCommand,
  choice,
  type SharedCommand,
  type Turn,
  type TurnCommand,
  type WorkflowCommand,
  workflow,
} from '../../../runtime/command.ts';
import type { Ask } from '../../../runtime/handles.ts';
import { invalidToken } from '../../files/by-token.ts';
import { redeemedOn } from '../../files/redeemed.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import type { Answer, Refused } from '../../reply.ts';
import { VaultFiles } from '../../vault/files/contract.ts';
import { askIfThere } from '../vaults/ask.ts';
import { refusalOf } from './access.ts';

interface ByToken {
  readonly claims: ValetClaims;
}

// biome-ignore lint/suspicious/noExplicitAny: a plan of any shape
type OwnTurn<Request, Ok> = TurnCommand<Request, Answer<Ok>, any> | SharedCommand<Request, Answer<Ok>, any>;
type Own<Request, Ok> = OwnTurn<Request, Ok> | WorkflowCommand<Request, Answer<Ok>>;

type Refusing = (turn: Turn, claims: ValetClaims) => Refused | undefined;

export const allows =
  (operation: ValetClaims['operation']): Refusing =>
  (turn, claims) =>
    refusalOf(turn, claims, operation);

export const allowsUnspent =
  (operation: ValetClaims['operation']): Refusing =>
  (turn, claims) =>
    refusalOf(turn, claims, operation) ?? (redeemedOn(turn, claims) === undefined ? undefined : invalidToken);

/** What the token is for, whatever that is. */
export const allowsAsMinted: Refusing = (turn, claims) => refusalOf(turn, claims, claims.operation);

/** The one command, of the user's own files, or the same of the vault that the token names. `undefined`: anyone who asks may. */
export function orOfVault<Request extends ByToken, Ok>(
  own: Own<Request, Ok>,
  refusing: Refusing | undefined,
  ask: (vault: Ask<typeof VaultFiles.commands>, request: Request) => Promise<Answer<Ok>>,
): ChoiceCommand<Request, Answer<Ok>> {
  const { request, reply } = own;
  const ofVault = workflow<Request, Answer<Ok>>({
    request,
    reply,
    run: async (steps, asked) => {
      const { claims } = asked;
      const refused = await steps.turn({
        turn: (turn) => refusing?.(turn, claims),
      });
      if (refused !== undefined) return refused;
      const answer = await askIfThere(steps, VaultFiles, claims.sharedVaultUuid ?? '', (vault) =>
        ask(vault, asked),
      );
      return answer ?? invalidToken;
    },
  });
  return choice({
    request,
    reply,
    choose: ({ claims }) => (claims.sharedVaultUuid === undefined ? own : ofVault),
  });
}
