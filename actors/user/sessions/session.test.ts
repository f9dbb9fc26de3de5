import test from 'ava';
import type { View } from '../../../runtime/command.ts';
import { Dependencies, provide } from '../../../runtime/dependency.ts';
import type { Slice, SliceMap } from '../../../runtime/slice.ts';
import { type Credentials, namedSecret } from '../../identity/session-tokens.ts';
import { AccountSettings, defaultAccountSettings } from '../../settings.ts';
import { noProfile, type Profile, profileSlice } from '../profile.ts';
import {
  checkSession,
  type RevokedSession,
  revokedSessionMap,
  type Session,
  secretHash,
  sessionMap,
} from './session.ts';

const nowMs = 1_000_000_000;
const settings = defaultAccountSettings;
const dependencies = new Dependencies('user', [AccountSettings], [provide(AccountSettings, settings)]);

const session: Session = {
  uuid: 'session',
  privateIdentifier: 'private',
  current: { style: 1, accessHash: secretHash('access'), refreshHash: secretHash('refresh') },
  replaced: [],
  accessExpiresAtMs: nowMs + 1,
  refreshExpiresAtMs: nowMs + 10,
  keptUntilMs: nowMs + 10,
  ephemeral: false,
  readonly: false,
  apiVersion: '20200115',
  userAgent: null,
  ipAddress: null,
  snjsVersion: null,
  applicationVersion: null,
  createdAtMs: 0,
  updatedAtMs: 0,
};
const cookieSession: Session = { ...session, current: { ...session.current, style: 2 } };
const active: Profile = { ...noProfile, state: 'active' };

interface Stored {
  readonly session?: Session;
  readonly revoked?: RevokedSession;
  readonly profile?: Profile;
}

function viewOf({ session, revoked, profile = active }: Stored): View {
  const maps = new Map<string, ReadonlyMap<string, unknown>>([
    [sessionMap.family, new Map(session && [[session.uuid, session]])],
    [revokedSessionMap.family, new Map(revoked && [['session', revoked]])],
  ]);
  const entries = <T>(of: SliceMap<T>) => (maps.get(of.family) ?? new Map()) as ReadonlyMap<string, T>;
  return {
    self: { kind: 'user', id: 'user' },
    activation: { id: 'activation' },
    nowMicros: nowMs * 1_000,
    use: (dependency) => dependencies.use(dependency),
    conflicting: () => undefined,
    get: <T>(of: Slice<T>) => (of.name === profileSlice.name ? (profile as T) : of.initial),
    entry: (of, key) => entries(of).get(key),
    entries,
  };
}

const header = (secret: string): Credentials => ({
  userUuid: 'user',
  style: 1,
  identifier: 'session',
  secrets: [secret],
});
const cookie = (...secrets: string[]): Credentials => ({
  userUuid: 'user',
  style: 2,
  identifier: 'private',
  secrets: secrets.map((secret) => namedSecret('session', secret)),
});
/** A cookie that another session has left behind. */
const cookieOfAnother: Credentials = { ...cookie(), secrets: [namedSecret('another', 'access')] };
const replacedAgo = (ms: number): Session => ({
  ...session,
  current: { ...session.current, accessHash: secretHash('newer') },
  replaced: [{ ...session.current, replacedAtMs: nowMs - ms }],
});
const revoked: RevokedSession = { privateIdentifier: 'private', keptUntilMs: nowMs + 1 };

const cases: readonly [what: string, stored: Stored, credentials: Credentials, expected: string][] = [
  ['the current secret', { session }, header('access'), 'ok'],
  [
    'a legacy session, whatever the age of an access token',
    { session: { ...session, legacy: true, accessExpiresAtMs: nowMs } },
    header('access'),
    'ok',
  ],
  [
    'an ended legacy session',
    { session: { ...session, legacy: true, keptUntilMs: nowMs } },
    header('access'),
    'invalid-auth',
  ],
  ['a wrong secret', { session }, header('wrong'), 'invalid-auth'],
  ['the refresh secret', { session }, header('refresh'), 'invalid-auth'],
  ['no session', {}, header('access'), 'invalid-auth'],
  ['a header token of a cookie session', { session: cookieSession }, header('access'), 'invalid-auth'],
  ['a cookie token of a header session', { session }, cookie('access'), 'invalid-auth'],
  ['one right cookie of several', { session: cookieSession }, cookie('stale', 'access'), 'ok'],
  ['the newest two cookies of one name', { session: cookieSession }, cookie('old', 'access', 'new'), 'ok'],
  ['a third', { session: cookieSession }, cookie('access', 'old', 'new'), 'invalid-auth'],
  ['the cookie of another session', { session: cookieSession }, cookieOfAnother, 'invalid-auth'],
  ['a cookie token without cookies', { session: cookieSession }, cookie(), 'invalid-auth'],
  ['a pair in grace', { session: replacedAgo(119_999) }, header('access'), 'expired-access-token'],
  ['a pair past grace', { session: replacedAgo(120_000) }, header('access'), 'invalid-auth'],
  ['a revoked header session', { revoked }, header('any'), 'revoked-session'],
  ['a revoked cookie session', { revoked }, cookie(), 'revoked-session'],
  [
    'a revocation past its time',
    { revoked: { ...revoked, keptUntilMs: nowMs } },
    header('x'),
    'invalid-auth',
  ],
  ['an account that is gone', { session, profile: noProfile }, header('access'), 'invalid-auth'],
  [
    'a deleted account',
    { session, profile: { ...noProfile, state: 'deleted' } },
    header('access'),
    'invalid-auth',
  ],
  [
    'an expired access token',
    { session: { ...session, accessExpiresAtMs: nowMs } },
    header('access'),
    'expired-access-token',
  ],
  ['an ended session', { session: { ...session, keptUntilMs: nowMs } }, header('access'), 'invalid-auth'],
  [
    'an ended session with an expired access token',
    { session: { ...session, keptUntilMs: nowMs, accessExpiresAtMs: nowMs } },
    header('access'),
    'invalid-auth',
  ],
  [
    'an access expiry as far as the setting and its buffer allow',
    { session: { ...session, accessExpiresAtMs: nowMs + settings.accessTokenAgeMs + 10_000 } },
    header('access'),
    'ok',
  ],
  [
    'an access expiry of a longer, older setting',
    { session: { ...session, accessExpiresAtMs: nowMs + settings.accessTokenAgeMs + 10_001 } },
    header('access'),
    'expired-access-token',
  ],
];

for (const [what, input, credentials, expected] of cases) {
  test(`${what}: ${expected}`, (t) => {
    const checked = checkSession(viewOf(input), credentials, nowMs);
    t.is('refused' in checked ? (checked.refused.tag ?? '') : 'ok', expected);
  });
}
