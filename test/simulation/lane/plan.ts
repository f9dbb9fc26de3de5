/** Faults of clients' sockets in the flavour `lane`. */
import type { SeededRandom } from '../../kit/random.ts';

export interface LanePlan {
  /** For each frame, either way. */
  readonly frameLate: number;
  /** A frame of a client arrives twice, although no client sends it twice. */
  readonly frameDoubled: number;
  /** A frame and all later ones are lost: the connection is cut, and both ends learn of it later. */
  readonly cut: number;
  /** A process dies shortly after a command was accepted. */
  readonly crashAfterAccepted: number;
  /** The share of the last events, heartbeats included, that are lost: hosts and gateways have to find out. */
  readonly lastEventsLost: number;
}

export function laneOf(random: SeededRandom): LanePlan {
  const rate = (most: number) => (random.chance(0.6) ? most * random.fraction() : 0);
  return {
    frameLate: rate(0.2),
    frameDoubled: rate(0.03),
    cut: rate(0.05),
    crashAfterAccepted: rate(0.05),
    lastEventsLost: rate(0.8),
  };
}
