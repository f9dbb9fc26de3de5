/** Sessions as clients see them, and the answers that open or renew one (docs/protocol/authentication.md). */
import { z } from 'zod';
import { keyParamsSchema } from './key-params.ts';

/** The api versions that have sessions: the first of header style, the second of cookie style. */
export const sessionApiVersions: readonly string[] = ['20200115', '20240226'];

/** The device a session belongs to, according to its requests. */
const headerText = z.string().max(512).nullable();
export const deviceSchema = z.object({
  userAgent: headerText,
  ipAddress: headerText,
  snjsVersion: headerText,
  applicationVersion: headerText,
});
export type Device = Readonly<z.infer<typeof deviceSchema>>;

/** The session as clients get it. Expirations in milliseconds since the epoch. */
const sessionBodySchema = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  access_expiration: z.number().int(),
  refresh_expiration: z.number().int(),
  readonly_access: z.boolean(),
});

/** Secrets that are not in the body; the gateway puts them into cookies. */
const sessionSecretsSchema = z.object({
  sessionUuid: z.string(),
  accessSecret: z.string(),
  refreshSecret: z.string(),
  /** Both secrets are useful for as long as the session can be refreshed. */
  refreshExpirationMs: z.number().int(),
});
export type SessionSecrets = z.infer<typeof sessionSecretsSchema>;

export const issuedSchema = z.object({ session: sessionBodySchema, secrets: sessionSecretsSchema });
export type IssuedSession = z.infer<typeof issuedSchema>;

/** The token that an account without sessions gets instead of one. */
const issuedTokenSchema = z.object({
  token: z.string(),
  /** The uuid of the session behind it. Not for clients. */
  sessionUuid: z.string(),
});

/** The result of signing in. */
export const grantedSchema = z.union([issuedSchema, issuedTokenSchema]);
export type GrantedSession = z.infer<typeof grantedSchema>;

export const sessionUuidOf = (granted: GrantedSession): string =>
  'secrets' in granted ? granted.secrets.sessionUuid : granted.sessionUuid;

const user = z.object({ uuid: z.string(), email: z.string(), protocolVersion: z.string() });

export const sessionReplySchema = issuedSchema.extend({ key_params: keyParamsSchema, user });
export type SessionReply = z.infer<typeof sessionReplySchema>;
export const tokenReplySchema = issuedTokenSchema.extend({ user });
export type TokenReply = z.infer<typeof tokenReplySchema>;

/** The answer of a registration, a login and a change of credentials, with the secrets of the session. */
export const signInReplySchema = z.union([sessionReplySchema, tokenReplySchema]);
export type SignInReply = z.infer<typeof signInReplySchema>;

/** An entry of the session list (docs/protocol/authentication.md, "The list of sessions"). */
export const sessionEntrySchema = z.object({
  uuid: z.string(),
  api_version: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  device_info: z.string(),
  user_agent: z.string().nullable(),
  ip_address: z.string().nullable(),
  current: z.boolean(),
  readonly_access: z.boolean(),
});
export type SessionEntry = z.infer<typeof sessionEntrySchema>;
