import { signedInRead } from '../signed-in.ts';
import { Sessions } from './contract.ts';

export const validateSession = signedInRead({
  ...Sessions.commands.validateSession,
  answer: (_view, _request, _reads, { session, readonly }) => ({ sessionUuid: session.uuid, readonly }),
});

export const validateBearer = signedInRead({ ...Sessions.commands.validateBearer, answer: () => ({}) });
