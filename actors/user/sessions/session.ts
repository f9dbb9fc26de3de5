/**
 * A session, its token pairs, and whether credentials stand for it (docs/protocol/authentication.md, "What is kept of a session"
 * and "Refresh").
 *
 * Invariants:
 * - Only the SHA-256 of a secret is stored.
 * - A pair that a refresh replaced stays with its session for the grace time, so that a client whose answer was lost can go on.
 *   Every pair that was ever issued is current, in grace, or older than that.
 * - A session past `keptUntilMs` counts as absent. Its entry goes when the next session opens.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Activation, ClockedView, Turn, View } from '../../../runtime/command.ts';
import { type SliceSource, sliceMap } from '../../../runtime/slice.ts';
import { type Credentials, equalInConstantTime, namedSecret } from '../../identity/session-tokens.ts';
import { type Refusal, refuse } from '../../reply.ts';
import { AccountSettings } from '../../settings.ts';
import { invalidAuth } from '../../signed-in.ts';
import { sessionsEnded, User } from '../contract.ts';
import { isAdministrator, isInUse, profileSlice } from '../profile.ts';

const pairFields = {
  style: z.union([z.literal(1), z.literal(2)]),
  accessHash: z.string(),
  refreshHash: z.string(),
};
const pairSchema = z.object(pairFields);
/** The SHA-256 of one access secret and one refresh secret, in hex. */
export type Pair = Readonly<z.infer<typeof pairSchema>>;

const replacedPairSchema = z.object({ ...pairFields, replacedAtMs: z.number() });
export type ReplacedPair = Readonly<z.infer<typeof replacedPairSchema>>;

const sessionSchema = z.object({
  uuid: z.string(),
  privateIdentifier: z.string(),
  current: pairSchema,
  replaced: z.array(replacedPairSchema).readonly(),
  accessExpiresAtMs: z.number(),
  refreshExpiresAtMs: z.number(),
  /** The refresh expiry, or sooner for an ephemeral session. */
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
  /** The bridge token that opened it. The session ends with that token. */
  bridgeToken: z.string().optional(),
  /**
   * The account has protocol 001 to 003, whose clients know no sessions. There is only an access token. It is good until the
   * session ends, and cannot be refreshed.
   */
  legacy: z.literal(true).optional(),
});
export type Session = Readonly<z.infer<typeof sessionSchema>>;

const revokedSessionSchema = z.object({
  privateIdentifier: z.string(),
  /** When its refresh token expires. After that no client can use the session any more. */
  keptUntilMs: z.number(),
});
/** A session that another device has ended. It is remembered so that its clients wipe their data. */
export type RevokedSession = Readonly<z.infer<typeof revokedSessionSchema>>;

export const sessionsMax = 1_000;

/** Keyed by session uuid. */
export const sessionMap = sliceMap<Session>({
  family: 'session',
  entriesMax: sessionsMax,
  schema: sessionSchema,
});

/** Keyed by session uuid. */
export const revokedSessionMap = sliceMap<RevokedSession>({
  family: 'revoked-session',
  entriesMax: sessionsMax,
  schema: revokedSessionSchema,
});

/** The answer to a legacy session that asks about sessions. */
export const knowsNoSessions = refuse.badRequest(
  'This account has no sessions. Change its password to upgrade it.',
  'unsupported-account-version',
);

export const isBridge = ({ bridgeToken }: Pick<Session, 'bridgeToken'>): boolean => bridgeToken !== undefined;

/** Tells the pairs of a session apart. It proves nothing. */
export const pairName = ({ accessHash }: Pick<Pair, 'accessHash'>): string => accessHash.slice(0, 32);

export const secretHash = (secret: string): string => hash('sha256', secret, 'hex');

/** Whether one of these secrets belongs to the current pair or one in grace. Undefined: to none of that style. */
export function pairStatusOf(
  session: Session,
  half: 'accessHash' | 'refreshHash',
  { style, secrets }: Pick<Credentials, 'style' | 'secrets'>,
  graceStartMs: number,
): 'current' | 'replaced' | undefined {
  const [name = ''] = secrets;
  const hashes = style === 'lane' ? noHashes : hashesOf(session, { style, secrets });
  const has = (pair: Pair) =>
    style === 'lane'
      ? half === 'accessHash' && equalInConstantTime(name, pairName(pair))
      : pair.style === style && hashes.has(pair[half]);
  if (has(session.current)) return 'current';
  return inGrace(session.replaced, graceStartMs).some(has) ? 'replaced' : undefined;
}

const noHashes: ReadonlySet<string> = new Set();
const knownHashes = new WeakMap<readonly string[], ReadonlySet<string>>();

/** A browser may keep an older cookie of another domain or partition beside it. It sends the newest last. */
const cookiesOfSessionMax = 2;

/**
 * The gateway passes the same credentials object for the same bearer, so its hashes are made once. Callers cannot choose a
 * digest, so the time of a look-up by digest tells them nothing.
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

/** Pairs that were replaced after this are in grace. */
export const graceStartMsOf = (view: ClockedView): number =>
  view.nowMs - view.use(AccountSettings).replacedPairGraceMs;

export const inGrace = (replaced: readonly ReplacedPair[], graceStartMs: number): readonly ReplacedPair[] =>
  replaced.filter(({ replacedAtMs }) => replacedAtMs > graceStartMs);

/** Every session ends by this: its tokens become worthless, and its sockets close. */
export function endSessions(turn: Turn, uuids: Iterable<string>): void {
  const ended = [...uuids];
  for (const uuid of ended) turn.removeEntry(sessionMap, uuid);
  if (ended.length > 0) turn.publish(User, sessionsEnded(ended));
}

export function endAllSessions(turn: Turn): void {
  endSessions(turn, turn.entries(sessionMap).keys());
}

// --- the last use --------------------------------------------------------------------------------------------

/*
 * When a session was last used, for the list of sessions.
 *
 * An idle sync writes nothing, so its time is in memory alone. A turn that saves something stores the time too, at most every
 * ten minutes: one more row in its commit. When the actor leaves memory, the list falls back to the time that was stored.
 */

/** Whole minutes cost an idle sync no allocation. Milliseconds would. */
const minuteMs = 60_000;
const storedEveryMs = 10 * minuteMs;

const minutes = new WeakMap<Activation, Map<string, number>>();

type SessionUse = Pick<Session, 'uuid' | 'updatedAtMs'>;

export function noteSessionUse(
  { activation, nowMs }: Pick<View, 'activation'> & { readonly nowMs: number },
  { uuid }: SessionUse,
): void {
  const known = minutes.get(activation);
  const minute = Math.floor(nowMs / minuteMs);
  if (known === undefined) minutes.set(activation, new Map([[uuid, minute]]));
  else if (known.get(uuid) !== minute) {
    // Most of these sessions have ended since.
    if (known.size >= sessionsMax) known.clear();
    known.set(uuid, minute);
  }
}

/** Accurate to the minute. */
export const lastUseMs = (activation: Activation, { uuid, updatedAtMs }: SessionUse): number =>
  Math.max(updatedAtMs, (minutes.get(activation)?.get(uuid) ?? 0) * minuteMs);

export function storeUse(turn: Turn, { uuid }: SessionUse): void {
  const session = turn.entry(sessionMap, uuid);
  if (session === undefined || turn.nowMs < session.updatedAtMs + storedEveryMs) return;
  turn.setEntry(sessionMap, uuid, { ...session, updatedAtMs: turn.nowMs });
}

// --- the check of credentials ------------------------------------------------------------------------------

/*
 * Decides whether credentials stand for a living session, in the order of docs/protocol/authentication.md, "Authenticating a
 * request". The gateway has verified the MAC.
 */

const revokedSession: Refusal = {
  reason: 'unauthenticated',
  tag: 'revoked-session',
  message: 'Your session has been revoked.',
  withoutEnvelope: true,
};
const expiredAccessToken: Refusal = {
  reason: 'expired',
  tag: 'expired-access-token',
  message: 'The provided access token has expired.',
  withoutEnvelope: true,
};

export type SessionCheck = { readonly session: Session } | { readonly refused: Refusal };

/**
 * The session that may act by these credentials now. `bearerSuffices`: a cookie-style session needs no cookie, as its bearer names
 * it by 128 random bits.
 */
export function checkSession(
  view: View,
  credentials: Credentials,
  nowMs: number,
  bearerSuffices = false,
): SessionCheck {
  const settings = view.use(AccountSettings);
  const session = findSession(view, credentials);
  const proven =
    session && pairStatusOf(session, 'accessHash', credentials, nowMs - settings.replacedPairGraceMs);
  const isCookieStyle = credentials.style === 2 && session?.current.style === 2;
  const status = proven ?? (bearerSuffices && isCookieStyle ? 'current' : undefined);
  if (session === undefined || status === undefined || !isRemembered(session, nowMs)) {
    return { refused: isRevoked(view, credentials, nowMs) ? revokedSession : invalidAuth };
  }
  if (!isInUse(view)) return { refused: invalidAuth };
  if (status === 'replaced' || !accessIsFresh(session, nowMs, settings)) {
    return { refused: expiredAccessToken };
  }
  return { session };
}

/** The session that the credentials name, ended or not. Its secrets are not checked. */
export function findSession(state: SliceSource, { style, identifier }: Credentials): Session | undefined {
  return style === 2 ? findByPrivateIdentifier(state, identifier) : state.entry(sessionMap, identifier);
}

/** A user has few sessions. To walk them costs less than to maintain an index. */
function findByPrivateIdentifier(state: SliceSource, privateIdentifier: string): Session | undefined {
  for (const session of state.entries(sessionMap).values()) {
    if (session.privateIdentifier === privateIdentifier) return session;
  }
  return undefined;
}

function accessIsFresh(session: Session, nowMs: number, settings: AccountSettings): boolean {
  if (session.legacy) return true;
  const latestMs = nowMs + settings.accessTokenAgeMs + settings.sessionFreshnessBufferMs;
  return nowMs < session.accessExpiresAtMs && session.accessExpiresAtMs <= latestMs;
}

function isRevoked(state: SliceSource, { style, identifier }: Credentials, nowMs: number): boolean {
  if (style !== 2) return isRemembered(state.entry(revokedSessionMap, identifier), nowMs);
  for (const revoked of state.entries(revokedSessionMap).values()) {
    if (revoked.privateIdentifier === identifier) return isRemembered(revoked, nowMs);
  }
  return false;
}

function isRemembered(revoked: { readonly keptUntilMs: number } | undefined, nowMs: number): boolean {
  return revoked !== undefined && nowMs < revoked.keptUntilMs;
}

/**
 * A session is read-only if it was opened so, or if the operator lists its account (docs/protocol/authentication.md, "Read-only
 * sessions").
 */
export function isReadonly(view: View, session: Session): boolean {
  return session.readonly || view.use(AccountSettings).readonlyUsers.has(view.get(profileSlice).email);
}

/** A bridge never administers: the user gave it access to items alone. */
export const mayAdminister = (view: View, { session }: { readonly session: Session }): boolean =>
  isAdministrator(view) && !isBridge(session);
