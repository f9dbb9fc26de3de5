/**
 * Hashing of server passwords: Argon2id, 19 MiB, two passes, one thread. A hash takes about ten milliseconds of one core and
 * 19 MiB. So it runs on the thread pool, a few at a time, from a bounded queue. It never runs inside a turn.
 *
 * Each call names the fairness key under which it waits (actors/queue.ts). The outermost keys are three: callers from unknown
 * networks, callers from known ones, and signed-in callers. A known network is one from which someone has signed in to the
 * account. So however many others guess, an owner on a known network waits for two hashes of others at most. The first two are
 * divided by site, and each site by network. The last is divided by account.
 */
import { hash as argon2Hash, verify as argon2Verify } from '@node-rs/argon2';
import { dependency } from '../../runtime/dependency.ts';
import { createQueue, type FairnessKey, type QueueLimits } from '../queue.ts';
import { closedHash, isImportedHash, verifyImported } from './imported-password.ts';
import { networkOf, siteOf } from './network.ts';

export interface PasswordHasher {
  /** A text that carries its own parameters and salt. Throws `OverloadedError` when the queue is full. */
  hash(password: string, key: FairnessKey): Promise<string>;
  /**
   * Whether `password` matches `hashed`. Undefined stands for an unknown account: the answer is false, after the same work.
   * `importedLeft`: any account of the server may still have a hash of another server. Every check then takes as long as one of
   * those. Throws `OverloadedError` when the queue is full.
   */
  verify(
    hashed: string | undefined,
    password: string,
    key: FairnessKey,
    importedLeft?: boolean,
  ): Promise<boolean>;
}
export const PasswordHasher = dependency<PasswordHasher>('the password hasher');

const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export const keyOfUnknown = (address: string | null): FairnessKey => ['unknown', ...networkKey(address)];
export const keyOfKnown = (address: string | null): FairnessKey => ['known', ...networkKey(address)];
export const keyOfUser = (userUuid: string): FairnessKey => ['signed-in', userUuid];

const networkKey = (address: string | null): FairnessKey => [siteOf(address ?? ''), networkOf(address ?? '')];

/** A hash of these parameters that no known password matches. */
const dummyHash =
  '$argon2id$v=19$m=19456,t=2,p=1$c2NyaXB0b3JpdW0tLS0tLQ$bm9ib2R5IGhhcyB0aGlzIHBhc3N3b3JkLCBub2JvZHk';

export function createPasswordHasher(limits: QueueLimits, checks: Checks = slowChecks): PasswordHasher {
  const inTurn = createQueue(limits, 'Too many passwords are being checked.');
  return {
    hash: (password, key) => inTurn(() => argon2Hash(password, parameters), undefined, key),
    verify: (hashed, password, key, importedLeft = false) =>
      inTurn(() => verifyEither(hashed, password, importedLeft, checks), undefined, key),
  };
}

/** Undefined stands for a hash that no password matches. */
type Check = (hashed: string | undefined, password: string) => Promise<boolean>;
interface Checks {
  readonly own: Check;
  readonly imported: Check;
}

const slowChecks: Checks = {
  own: (hashed, password) => argon2Verify(hashed ?? dummyHash, password),
  imported: verifyImported,
};

/** The same work for every account and none, as long as `importedLeft` is the same. */
async function verifyEither(
  hashed: string | undefined,
  password: string,
  importedLeft: boolean,
  checks: Checks,
): Promise<boolean> {
  const imported = isImportedHash(hashed) ? hashed : undefined;
  const own = hashed === closedHash || imported !== undefined ? undefined : hashed;
  const isOwn = await checks.own(own, password);
  if (imported === undefined && !importedLeft) return isOwn;
  const isImported = await checks.imported(imported, password);
  return imported === undefined ? isOwn : isImported;
}
