import type { Actors, AskOptions } from '../../../runtime/kind.ts';
import type { SignedInReply, SignedInRequest } from '../signed-in.ts';
import { User } from '../user.ts';
import { fitsOneTurn } from './batches.ts';
import type { SyncReply } from './reply.ts';
import type { SyncRequest } from './request.ts';

/** Asks for a sync by the command that fits it: what brings nothing must wait for nothing. */
export function syncItems(
  actors: Actors,
  request: SignedInRequest<SyncRequest>,
  options?: AskOptions,
): Promise<SignedInReply<SyncReply>> {
  const { ask } = actors.get(User, request.credentials.userUuid);
  const items = request.items ?? [];
  if (items.length === 0) return ask.sync(request, options);
  return fitsOneTurn(items) ? ask.saveItems(request, options) : ask.saveManyItems(request, options);
}
