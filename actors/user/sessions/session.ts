/**
 * A session and its token pairs (docs/protocol/authentication.md, "What is kept of a session" and "Refresh").
 *
 * Invariants:
 * - Secrets are never stored, only their SHA-256.
 * - A pair that a refresh replaced stays with its session for the grace time, whatever style replaced it, so that
 *   a client whose answer was lost can carry on. Every pair ever handed out is current, in grace, or older than that.
 * - A session past `keptUntilMs` counts as absent; its entry goes when the next session is opened.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { sliceMap } from '../../../runtime/slice.ts';
import {
  type Credentials,
  equalInConstantTime,
  namedSecret,
  type SessionStyle,
} from '../../identity/session-tokens.ts';
import { refuse } from '../../reply.ts';

/** What is kept of one access and one refresh secret: their SHA-256 in hex. */
export interface Pair {
  readonly style: SessionStyle;
  readonly accessHash: string;
  readonly refreshHash: string;
}

export interface ReplacedPair extends Pair {
  readonly replacedAtMs: number;
}

export interface Session {
  readonly uuid: string;
  readonly privateIdentifier: string;
  readonly current: Pair;
  readonly replaced: readonly ReplacedPair[];
  readonly accessExpiresAtMs: number;
  readonly refreshExpiresAtMs: number;
  /** The refresh expiry, or sooner for an ephemeral session. */
  readonly keptUntilMs: number;
  readonly ephemeral: boolean;
  readonly readonly: boolean;
  readonly apiVersion: string;
  readonly userAgent: string | null;
  readonly ipAddress: string | null;
  readonly snjsVersion: string | null;
  readonly applicationVersion: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The uuid of the bridge token that opened it: it ends with that. */
  readonly bridgeToken?: string | undefined;
  /**
   * A session of an account of protocol 001 to 003, whose client knows no sessions. It has the access token alone, which is good
   * until the session ends and cannot be refreshed.
   */
  readonly legacy?: true | undefined;
}

/** A session that was ended from another device. It is remembered so that its clients wipe their data. */
export interface RevokedSession {
  readonly privateIdentifier: string;
  /** Its refresh expiry: no client of it can come back after that. */
  readonly keptUntilMs: number;
}

const pairFields = {
  style: z.union([z.literal(1), z.literal(2)]),
  accessHash: z.string(),
  refreshHash: z.string(),
};

export const sessionsMax = 1_000;

/** By session uuid. */
export const sessionMap = sliceMap<Session>({
  family: 'session',
  format: 1,
  entriesMax: sessionsMax,
  schema: z.object({
    uuid: z.string(),
    privateIdentifier: z.string(),
    current: z.object(pairFields),
    replaced: z.array(z.object({ ...pairFields, replacedAtMs: z.number() })).readonly(),
    accessExpiresAtMs: z.number(),
    refreshExpiresAtMs: z.number(),
    keptUntilMs: z.number(),
    ephemeral: z.boolean(),
    readonly: z.boolean(),
    apiVersion: z.string(),
    userAgent: z.string().nullable(),
    ipAddress: z.string().nullable(),
    snjsVersion: z.string().nullable(),
    applicationVersion: z.string().nullable(),
    createdAtMs: z.number(),
    updatedAtMs: z.number(),
    bridgeToken: z.string().optional(),
    legacy: z.literal(true).optional(),
  }),
});

/** By session uuid. */
export const revokedSessionMap = sliceMap<RevokedSession>({
  family: 'revoked-session',
  format: 1,
  entriesMax: sessionsMax,
  schema: z.object({ privateIdentifier: z.string(), keptUntilMs: z.number() }),
});

/** The answer to a legacy session that asks about sessions. */
export const knowsNoSessions = refuse.badRequest(
  'This account has no sessions. Change its password to upgrade it.',
  'unsupported-account-version',
);

export const isBridge = ({ bridgeToken }: Pick<Session, 'bridgeToken'>): boolean => bridgeToken !== undefined;

/** Tells the pairs of a session apart, and proves nothing. */
export const pairName = ({ accessHash }: Pick<Pair, 'accessHash'>): string => accessHash.slice(0, 32);

export const secretHash = (secret: string): string => hash('sha256', secret, 'hex');

/** How the pair that one of these secrets belongs to stands, or undefined if no pair of that style has it. */
export function standingOf(
  session: Session,
  half: 'accessHash' | 'refreshHash',
  { style, secrets }: Pick<Credentials, 'style' | 'secrets'>,
  nowMs: number,
  graceMs: number,
): 'current' | 'replaced' | undefined {
  const [name = ''] = secrets;
  const hashes = style === 'lane' ? noHashes : hashesOf(session, { style, secrets });
  const has = (pair: Pair) =>
    style === 'lane'
      ? half === 'accessHash' && equalInConstantTime(name, pairName(pair))
      : pair.style === style && hashes.has(pair[half]);
  if (has(session.current)) return 'current';
  return inGrace(session.replaced, nowMs, graceMs).some(has) ? 'replaced' : undefined;
}

const noHashes: ReadonlySet<string> = new Set();
const knownHashes = new WeakMap<readonly string[], ReadonlySet<string>>();

/** A browser may keep an older one beside it, of another domain or partition. It sends the newest last. */
const cookiesOfSessionMax = 2;

/**
 * The gateway hands on the same credentials for the same bearer, so their hashes are made once. They are looked up by
 * digest: a caller learns nothing from how long it takes, as nobody chooses a digest.
 */
function hashesOf(
  { uuid }: Pick<Session, 'uuid'>,
  { style, secrets }: Pick<Credentials, 'style' | 'secrets'>,
): ReadonlySet<string> {
  const known = knownHashes.get(secrets);
  if (known !== undefined) return known;
  const candidates = style === 2 ? secretsNamed(uuid, secrets) : secrets;
  const hashes = new Set(candidates.map(secretHash));
  knownHashes.set(secrets, hashes);
  return hashes;
}

function secretsNamed(sessionUuid: string, secrets: readonly string[]): readonly string[] {
  const prefix = namedSecret(sessionUuid, '');
  return secrets
    .filter((secret) => secret.startsWith(prefix))
    .slice(-cookiesOfSessionMax)
    .map((secret) => secret.slice(prefix.length));
}

export function inGrace(
  replaced: readonly ReplacedPair[],
  nowMs: number,
  graceMs: number,
): readonly ReplacedPair[] {
  return replaced.filter((pair) => nowMs - pair.replacedAtMs < graceMs);
}
