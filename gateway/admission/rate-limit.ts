/**
 * Requests per minute, counted by this process alone: a brake on floods, not on guessing (guessing limits live in
 * actors, where all processes share them). What a bearer of ours vouches for is counted by its user, so that an
 * office behind one address is no flood; everything else, a wrong bearer included, is counted by address.
 *
 * Fixed windows of a minute: two counts fit side by side at a window's edge, so an address may have up to twice
 * the limit within a minute. Memory is bounded: addresses beyond `addressesMax` in one window share one count.
 */
import type { Clock } from '../../runtime/clock.ts';
import type { GatewaySettings } from '../settings.ts';

/** `public`: by address. `session`: by user. */
export type RateClass = 'public' | 'session';

export interface RateLimiter {
  /** 0 when the request may pass, else the milliseconds until another one may. */
  take(rateClass: RateClass, addressOrUser: string): number;
  /** Whether the class has a limit at all, so that no address need be made out otherwise. */
  limits(rateClass: RateClass): boolean;
}

const windowMs = 60_000;
const defaultAddressesMax = 50_000;
const overflowAddress = 'overflow';

export function createRateLimiter(
  limits: GatewaySettings['rateLimits'],
  clock: Clock,
  addressesMax = defaultAddressesMax,
): RateLimiter {
  const perMinute: Record<RateClass, number> = {
    public: limits.publicPerMinute,
    session: limits.sessionPerMinute,
  };
  const counts = { public: new Map<string, number>(), session: new Map<string, number>() };
  let windowEndsMs = clock.monotonicMs() + windowMs;

  return {
    limits: (rateClass) => perMinute[rateClass] > 0,
    take(rateClass, addressOrUser) {
      if (perMinute[rateClass] === 0) return 0;
      const nowMs = clock.monotonicMs();
      if (nowMs >= windowEndsMs) {
        counts.public.clear();
        counts.session.clear();
        windowEndsMs = nowMs + windowMs;
      }
      const counted = counts[rateClass];
      const network = networkOf(addressOrUser);
      const key = counted.has(network) || counted.size < addressesMax ? network : overflowAddress;
      const count = (counted.get(key) ?? 0) + 1;
      if (count > perMinute[rateClass]) return windowEndsMs - nowMs;
      counted.set(key, count);
      return 0;
    },
  };
}

/** One subscriber holds a whole /64 of IPv6, so that is what counts as an address. A user's uuid stays as it is. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = ''] = address.split('::');
  return head
    .split(':')
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
