/** How the relay and the messengers treat mails and messages in the flavour `delivery`, and who sends them. */
import type { SeededRandom } from '../../kit/random.ts';

/** The relay puts off no mail that would then wait for longer, as no run goes on for so long. */
export const mailWaitMaxMs = 2 * 3_600_000;

/** Probabilities for each attempt of a mail. */
interface RelayRates {
  /** The relay accepts nothing from anybody for now. */
  readonly unable: number;
  /** It puts this mail off, once: before the message, or after all of it. */
  readonly putOff: number;
  readonly putOffLate: number;
  /** The connection is cut after the message: the relay has it, or does not. */
  readonly cut: number;
  /** The host dies or pauses: before it learns that it may send, as it sends, and before it learns the result. */
  readonly crash: number;
  readonly pause: number;
  /** The longest time of each step of an attempt. */
  readonly stepMs: number;
}

export interface DeliveryPlan {
  readonly owners: number;
  readonly publishers: number;
  /** The openers of each share, at about the same moment. */
  readonly openers: number;
  readonly relay: RelayRates;
  /** The largest error of any clock: nothing counts as early by less than that. */
  readonly skewMs: number;
}

export function deliveryOf(random: SeededRandom, skewMs: number): DeliveryPlan {
  const sometimes = (most: number) => (random.chance(0.7) ? most * random.fraction() : 0);
  return {
    owners: random.pick([1, 2]),
    publishers: random.pick([1, 1, 2]),
    openers: random.pick([2, 4]),
    relay: {
      unable: sometimes(0.2),
      putOff: sometimes(0.1),
      putOffLate: sometimes(0.1),
      cut: sometimes(0.1),
      crash: sometimes(0.06),
      pause: sometimes(0.06),
      stepMs: random.pick([5, 300, 1_500]),
    },
    skewMs,
  };
}
