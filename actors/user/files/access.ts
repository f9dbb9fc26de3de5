/**
 * What a valet token allows now. The gateway has verified its MAC; whether its session lives, and may do this still, is for this
 * actor to say, each time. Refused with 403, as clients take 401 to mean that they are signed out.
 */
import type { View } from '../../../runtime/command.ts';
import { invalidToken } from '../../files/by-token.ts';
import { isVoid } from '../../files/redeemed.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { type Refused, refuse } from '../../reply.ts';
import { isBanned } from '../ban.ts';
import { profileSlice } from '../profile.ts';
import { isReadonly } from '../sessions/check.ts';
import { sessionMap } from '../sessions/session.ts';
import { refusalToWrite } from '../signed-in.ts';

const otherOperation = refuse.badRequest('This valet token is for something else.');

/** Undefined: it allows this, unless it is redeemed. */
export function refusalOf(
  view: View & { readonly nowMs: number },
  claims: ValetClaims,
  operation: ValetClaims['operation'],
): Refused | undefined {
  const session = view.entry(sessionMap, claims.sessionUuid);
  const isAlive = session !== undefined && view.nowMs < session.keptUntilMs;
  const isActive = view.get(profileSlice).state === 'active' && !isBanned(view);
  const isOwn = claims.userUuid === view.self.id;
  if (!isAlive || !isActive || !isOwn || claims.endsMs <= view.nowMs || isVoid(view, claims)) {
    return invalidToken;
  }
  if (claims.operation !== operation) return otherOperation;
  return operation === 'read' ? undefined : refusalToWrite(isReadonly(view, session));
}
