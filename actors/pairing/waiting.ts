/**
 * Callers in this process that wait for a refresh to end. It is a hint: a caller that is woken looks at the state again. A caller
 * enters before it looks at the state, so that it cannot miss the end of a refresh that it sees begun.
 */
import type { Clock } from '../../runtime/clock.ts';
import { dependency } from '../../runtime/dependency.ts';

/** Longer than a refresh takes. It ends elsewhere if this process loses the actor. */
const waitMs = 18_000;

interface Waiting {
  readonly over: Promise<void>;
  leave(): void;
}

export interface RefreshWaits {
  enter(subscriptionId: string): Waiting;
  end(subscriptionId: string): void;
}
export const RefreshWaits = dependency<RefreshWaits>('those who wait for a refresh');

export function createRefreshWaits(clock: Pick<Clock, 'schedule'>): RefreshWaits {
  const waiting = new Map<string, Set<() => void>>();
  return {
    enter(subscriptionId) {
      const others = waiting.get(subscriptionId) ?? new Set();
      waiting.set(subscriptionId, others);
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const cancel = clock.schedule(waitMs, end);
      others.add(end);
      return {
        over,
        leave() {
          cancel();
          others.delete(end);
          if (others.size === 0 && waiting.get(subscriptionId) === others) waiting.delete(subscriptionId);
        },
      };
    },
    end(subscriptionId) {
      for (const end of waiting.get(subscriptionId) ?? []) end();
    },
  };
}
