/**
 * What a valet token allows now (docs/protocol/files.md). The gateway has verified its MAC. The user's actor checks each time
 * that the session lives and may still do this. Refusals are 403, as clients take a 401 to mean that they are signed out.
 *
 * If the file is in a shared vault, the actor then asks the vault. The vault checks that the user is a member who may do it.
 */
import {
  type ChoiceCommand,
  type ClockedView,
  choiceCommand,
  type SharedCommand,
  type Turn,
  type TurnCommand,
  type WorkflowCommand,
  workflow,
} from '../../../runtime/command.ts';
import type { Ask } from '../../../runtime/handles.ts';
import { invalidToken } from '../../files/by-token.ts';
import { isVoid, redeemedOn } from '../../files/redeemed.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { type Answer, type Refused, refuse } from '../../reply.ts';
import { VaultFiles } from '../../vault/files/contract.ts';
import { isInUse } from '../profile.ts';
import { isReadonly, sessionMap } from '../sessions/session.ts';
import { refusalToWrite } from '../signed-in.ts';
import { askIfThere } from '../vaults/ask.ts';

const otherOperation = refuse.badRequest('This valet token is for something else.');

/** Undefined: the token allows this, unless it is redeemed. */
export function refusalOfToken(
  view: ClockedView,
  claims: ValetClaims,
  operation: ValetClaims['operation'],
): Refused | undefined {
  const session = view.entry(sessionMap, claims.sessionUuid);
  const isAlive = session !== undefined && view.nowMs < session.keptUntilMs;
  const isOwn = claims.userUuid === view.self.id;
  if (!isAlive || !isInUse(view) || !isOwn || claims.endsMs <= view.nowMs || isVoid(view, claims)) {
    return invalidToken;
  }
  if (claims.operation !== operation) return otherOperation;
  return operation === 'read' ? undefined : refusalToWrite(isReadonly(view, session));
}

interface ByToken {
  readonly claims: ValetClaims;
}

// biome-ignore lint/suspicious/noExplicitAny: a plan of any shape
type OwnTurn<Request, Ok> = TurnCommand<Request, Answer<Ok>, any> | SharedCommand<Request, Answer<Ok>, any>;
type OwnCommand<Request, Ok> = OwnTurn<Request, Ok> | WorkflowCommand<Request, Answer<Ok>>;

type Refusing = (turn: Turn, claims: ValetClaims) => Refused | undefined;

export const allows =
  (operation: ValetClaims['operation']): Refusing =>
  (turn, claims) =>
    refusalOfToken(turn, claims, operation);

export const allowsUnspent =
  (operation: ValetClaims['operation']): Refusing =>
  (turn, claims) =>
    refusalOfToken(turn, claims, operation) ??
    (redeemedOn(turn, claims) === undefined ? undefined : invalidToken);

/** Allows the operation that the token was made for. */
export const allowsAsMinted: Refusing = (turn, claims) => refusalOfToken(turn, claims, claims.operation);

/** Runs `own` for the user's own file, or asks the vault that the token names. Without `refusing`, any session may. */
export function orOfVault<Request extends ByToken, Ok>(
  own: OwnCommand<Request, Ok>,
  refusing: Refusing | undefined,
  ask: (vault: Ask<typeof VaultFiles.commands>, request: Request) => Promise<Answer<Ok>>,
): ChoiceCommand<Request, Answer<Ok>> {
  const shape = { request: own.request, reply: own.reply };
  const ofVault = workflow<Request, Answer<Ok>>(shape, async (steps, request) => {
    const { claims } = request;
    const refused = await steps.turn({
      turn: (turn) => refusing?.(turn, claims),
    });
    if (refused !== undefined) return refused;
    const answer = await askIfThere(steps, VaultFiles, claims.sharedVaultUuid ?? '', (vault) =>
      ask(vault, request),
    );
    return answer ?? invalidToken;
  });
  return choiceCommand(shape, ({ claims }) => (claims.sharedVaultUuid === undefined ? own : ofVault));
}
