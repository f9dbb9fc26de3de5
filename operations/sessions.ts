/**
 * `scriptorium.v1.Sessions`: another service asks which user the session of a caller belongs to
 * (docs/protocol/authentication.md, "Validation for other services").
 */

import type { Refusal, RefusalReason } from '../actors/reply.ts';
import { invalidAuth } from '../actors/signed-in.ts';
import { Sessions } from '../actors/user/sessions/contract.ts';
import {
  SessionRefusalReason,
  type SessionsService,
  type SessionsValidateResponse,
} from '../proto/generated/scriptorium/v1/sessions.ts';
import { unlessAbsent } from '../runtime/handles.ts';
import type { Handlers } from './calls.ts';
import type { InternalApiOptions } from './internal-api-options.ts';

type Options = Pick<InternalApiOptions, 'actors' | 'verifyBearer'>;

export function sessionsHandlers({ actors, verifyBearer }: Options): Handlers<SessionsService> {
  return {
    async validate({ authorization, cookie }, ask) {
      const credentials = verifyBearer(authorization, cookie);
      if (credentials === undefined) return refusal(invalidAuth);
      const sessions = actors.get(Sessions, credentials.userUuid).ask;
      const answer = await unlessAbsent(sessions.validateSession({ credentials }, ask));
      // A user that does not exist (any more) has no sessions.
      if (answer === undefined) return refusal(invalidAuth);
      if ('refused' in answer) return refusal(answer.refused);
      const { caller, ok } = answer;
      return {
        outcome: {
          $case: 'session',
          value: {
            userUuid: caller.userUuid,
            sessionUuid: ok.sessionUuid,
            roles: caller.roles.map(({ uuid, name }) => ({ uuid, name })),
            readOnly: ok.readonly,
          },
        },
      };
    },
  };
}

const reasons: Readonly<Record<string, SessionRefusalReason>> = {
  'revoked-session': SessionRefusalReason.REVOKED,
  'expired-access-token': SessionRefusalReason.EXPIRED,
};

/** The status that an HTTP service would give its own caller. */
const httpStatuses: Readonly<Partial<Record<RefusalReason, number>>> = { expired: 498, forbidden: 403 };

function refusal({ reason: refused, tag = '', message }: Refusal): SessionsValidateResponse {
  const reason = reasons[tag] ?? SessionRefusalReason.INVALID;
  const httpStatus = httpStatuses[refused] ?? 401;
  return { outcome: { $case: 'refusal', value: { reason, httpStatus, tag, message } } };
}
