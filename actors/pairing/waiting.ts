/**
 * Callers in this process that wait for the end of a refresh. Waking is a hint, after which a caller reads the state again. It
 * begins to wait before it reads the state, so that it cannot miss the end of a refresh that it has seen running.
 */
import type { Clock } from '../../runtime/clock.ts';
import { dependency } from '../../runtime/dependency.ts';

/** Longer than a refresh takes. If this process loses the actor, the refresh ends on another host. */
const waitMs = 18_000;

interface RefreshWait {
  readonly finished: Promise<void>;
  leave(): void;
}

export interface RefreshWaits {
  enter(subscriptionId: string): RefreshWait;
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
      const finished = new Promise<void>((resolve) => {
        end = resolve;
      });
      const cancel = clock.schedule(waitMs, end);
      others.add(end);
      return {
        finished,
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
