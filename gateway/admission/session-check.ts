/** Whether a session is alive, for decisions before its command runs: a valid MAC does not prove that. */
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { isRefused } from '../../actors/reply.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import type { Actors } from '../../runtime/handles.ts';
import { type Refusal, refusals, statusOf } from '../http/refusal.ts';

/** Undefined if it is alive. `bearerSuffices` is the route's. @throws ActorError */
export type CheckSession = (
  credentials: Credentials,
  bearerSuffices: true | undefined,
) => Promise<Refusal | undefined>;

/** The sender of a large body waits for this check. */
const askMs = 10_000;

export function createSessionCheck(actors: Actors): CheckSession {
  return async (credentials, bearerSuffices) => {
    const { ask } = actors.get(Sessions, credentials.userUuid);
    try {
      const command = bearerSuffices ? 'validateBearer' : 'validateSession';
      const answer = await ask[command]({ credentials }, { deadlineMs: askMs });
      if (!isRefused(answer)) return undefined;
      const { message, tag } = answer.refused;
      return { status: statusOf(answer.refused), message, ...(tag !== undefined && { tag }) };
    } catch (error) {
      if (error instanceof NotFoundError) return refusals.invalidAuth;
      throw error;
    }
  };
}
