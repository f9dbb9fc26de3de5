/**
 * Whether the lane is available (docs/protocol/sockets.md, "Whether the lane is there"). Clients take `disabled` for
 * a decision of the operator and stop asking, so every temporary cause is `not-ready`.
 */
import type { Readiness } from '../../../runtime/readiness.ts';
import type { GatewaySettings } from '../../settings.ts';

type LaneState = 'available' | 'not-ready' | 'disabled';

export type LaneAvailability = () => Promise<LaneState>;

export function createLaneAvailability(
  { isEnabled, origins, sameOrigin }: GatewaySettings['syncLane'],
  readiness: Pick<Readiness, 'report'>,
): LaneAvailability {
  const isConfigured = isEnabled && (sameOrigin || origins.length > 0);
  return async () => {
    if (!isConfigured) return 'disabled';
    return (await readiness.report()).ready ? 'available' : 'not-ready';
  };
}
