import type { FrameEvent } from '../../actors/user/contract.ts';

/**
 * The text of a frame for clients (docs/protocol/sockets.md, "Frames"). They parse every frame as JSON without
 * catching errors.
 */
export function frameText(
  userUuid: string,
  { type, origin, payload, isFlat }: FrameEvent,
  nowMs: number,
): string {
  if (isFlat) return JSON.stringify({ type, ...payload });
  return JSON.stringify({
    type,
    createdAt: new Date(nowMs).toISOString(),
    meta: { correlation: { userIdentifier: userUuid, userIdentifierType: 'uuid' }, origin },
    payload,
  });
}
