/**
 * Counts requests per minute in this process alone. This slows floods, not guessing: actors hold the guessing limits,
 * because all processes share them. A request with one of our bearers counts for its user, so that an office behind
 * one address is not a flood. Everything else counts by address, a wrong bearer included.
 *
 * The windows are fixed minutes. Two counts fit side by side at a window's edge, so an address may have up to twice
 * the limit within a minute. Memory is bounded: beyond `addressesMax` in one window the limiter forgets the address
 * that has been silent longest. It keeps an address that goes on asking, so a crowd of others neither frees nor
 * burdens that address.
 */
import { networkOf } from '../../actors/identity/network.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { GatewaySettings } from '../settings.ts';

/** What counts together: all requests of the routes that declare this bucket, by caller. */
export interface RateBucket {
  readonly name: string;
  /** 0 is no limit. */
  readonly perMinute: number;
  /** `user`: by the bearer's user. A request without one of our bearers counts only as a public request. */
  readonly by: 'address' | 'user';
}

/** For probes, which must have no limit. */
export const unlimited: RateBucket = { name: 'unlimited', perMinute: 0, by: 'address' };

export interface RateLimiter {
  /** For routes that declare no bucket of their own: by address, or by user with a session. */
  readonly public: RateBucket;
  readonly session: RateBucket;
  /** 0 when the request may pass, else the milliseconds until another one may. */
  take(bucket: RateBucket, addressOrUser: string): number;
  /** Whether the bucket has a limit at all. Without one, there is no need to find an address. */
  limits(bucket: RateBucket): boolean;
}

const windowMs = 60_000;
const defaultAddressesMax = 50_000;

/** `declared` are the buckets of routes. @throws Error when two of one name differ. */
export function createRateLimiter(
  limits: GatewaySettings['rateLimits'],
  clock: Clock,
  declared: readonly RateBucket[] = [],
  addressesMax = defaultAddressesMax,
): RateLimiter {
  const byAddress: RateBucket = { name: 'public', perMinute: limits.publicPerMinute, by: 'address' };
  const byUser: RateBucket = { name: 'session', perMinute: limits.sessionPerMinute, by: 'user' };
  const counts = countsByName([byAddress, byUser, ...declared]);
  const isOff = { address: limits.publicPerMinute === 0, user: limits.sessionPerMinute === 0 };
  let windowEndsMs = clock.monotonicMs() + windowMs;

  const limited = ({ perMinute, by }: RateBucket) => perMinute > 0 && !isOff[by];

  return {
    public: byAddress,
    session: byUser,
    limits: limited,
    take(bucket, addressOrUser) {
      if (!limited(bucket)) return 0;
      const nowMs = clock.monotonicMs();
      if (nowMs >= windowEndsMs) {
        for (const counted of counts.values()) counted.clear();
        windowEndsMs = nowMs + windowMs;
      }
      const counted = counts.get(bucket.name);
      if (counted === undefined) throw new Error(`the rate bucket ${bucket.name} is not declared`);
      const network = networkOf(addressOrUser);
      const count = (counted.get(network) ?? 0) + 1;
      // The most recent addresses stay last.
      counted.delete(network);
      if (counted.size >= addressesMax) forgetFirst(counted);
      counted.set(network, Math.min(count, bucket.perMinute + 1));
      return count > bucket.perMinute ? windowEndsMs - nowMs : 0;
    },
  };
}

function countsByName(buckets: readonly RateBucket[]): ReadonlyMap<string, Map<string, number>> {
  const known = new Map<string, RateBucket>();
  for (const bucket of buckets) {
    const same = known.get(bucket.name) ?? bucket;
    if (same.perMinute !== bucket.perMinute || same.by !== bucket.by) {
      throw new Error(`two rate buckets are called ${bucket.name}`);
    }
    known.set(bucket.name, bucket);
  }
  return new Map([...known.keys()].map((name) => [name, new Map<string, number>()]));
}

function forgetFirst(counted: Map<string, number>): void {
  const [first] = counted.keys();
  if (first !== undefined) counted.delete(first);
}
