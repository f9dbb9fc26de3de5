/**
 * The relays that mail goes through, in the order in which they are tried. Administrators list them; while the list is
 * empty, the relay of the settings takes its place. A credential is sealed for the id of its relay.
 */
import { isIPv4 } from 'node:net';
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { UserSecrets } from '../identity/user-secrets.ts';
import { type Refused, refuse } from '../reply.ts';
import { implicitTlsPort, MailSettings } from './settings.ts';

/** The relay that the settings configure. */
export const directRelayId = 'direct';
export const relaysMax = 20;

export const securities = ['starttls', 'implicit', 'none'] as const;
export const regions = ['us', 'eu'] as const;
export const fallbackModes = ['next-enabled', 'none'] as const;

const common = {
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  from: z.object({ name: z.string(), address: z.string() }),
  rateLimit: z.object({ perMinute: z.int().nullable(), perDay: z.int().nullable() }),
};
const smtpSchema = z.object({
  ...common,
  kind: z.literal('smtp'),
  host: z.string(),
  port: z.int(),
  security: z.enum(securities),
  username: z.string().nullable(),
  /** Whether the password may be sent without TLS to a host that is not this machine. */
  plaintextCredentials: z.boolean().default(false),
});
const mailgunSchema = z.object({
  ...common,
  kind: z.literal('mailgun'),
  domain: z.string(),
  region: z.enum(regions),
});
const relaySchema = z.discriminatedUnion('kind', [
  smtpSchema,
  mailgunSchema,
  z.object({ ...common, kind: z.literal('sendgrid') }),
  z.object({ ...common, kind: z.literal('postmark') }),
]);
export type Relay = z.infer<typeof relaySchema>;
export type SmtpRelay = z.infer<typeof smtpSchema>;
export type HostedRelay = Exclude<Relay, SmtpRelay>;
export const relayKinds = ['smtp', 'sendgrid', 'mailgun', 'postmark'] as const;

const sealedCredential: z.ZodType<Uint8Array> = z.instanceof(Uint8Array);
const storedSchema = z.object({ relay: relaySchema, credential: sealedCredential.nullable() });
export type StoredRelay = z.infer<typeof storedSchema>;

const listSchema = z.object({
  relays: z.array(storedSchema).readonly(),
  fallback: z.enum(fallbackModes),
  /** How often the list was replaced. */
  version: z.int(),
});

export const relaysSlice = slice<z.infer<typeof listSchema>>({
  name: 'relays',
  schema: listSchema,
  initial: { relays: [], fallback: 'next-enabled', version: 0 },
});

/** If it is empty, the relay of the settings is used. */
const listed = (view: View): readonly StoredRelay[] =>
  view.use(MailSettings).mode === 'direct' ? [] : view.get(relaysSlice).relays;

export function relaysOf(view: View): readonly Relay[] {
  const relays = listed(view);
  if (relays.length > 0) return relays.map(({ relay }) => relay);
  const direct = directRelay(view.use(MailSettings));
  return direct === undefined ? [] : [direct];
}

function directRelay(settings: MailSettings): SmtpRelay | undefined {
  const { host, port, isImplicitTls, isInsecureAllowed, isInsecurePasswordAllowed, user, from } = settings;
  if (host === undefined || from === undefined) return undefined;
  const usual = isInsecureAllowed || isLoopbackHost(host) ? 'none' : 'starttls';
  return {
    id: directRelayId,
    name: '',
    kind: 'smtp',
    enabled: true,
    from,
    rateLimit: { perMinute: null, perDay: null },
    host,
    port,
    security: (isImplicitTls ?? port === implicitTlsPort) ? 'implicit' : usual,
    username: user ?? null,
    plaintextCredentials: isInsecurePasswordAllowed,
  };
}

type Signing = Pick<SmtpRelay, 'host' | 'security' | 'username' | 'plaintextCredentials'>;

/** Whether signing in would send the password in plain text over a network, and no setting allows that. */
export const exposesPassword = ({ host, security, username, plaintextCredentials }: Signing): boolean =>
  security === 'none' && username !== null && !plaintextCredentials && !isLoopbackHost(host);

/** A host on this machine: no other machine can listen, and no certificate can name it. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|::1)$/i.test(host) || (isIPv4(host) && host.startsWith('127.'));

const sealedFor = (relayId: string) => ({ userUuid: 'mailer', purpose: `relay:${relayId}` });

export function sealCredential(turn: Turn, relayId: string, credential: string): Buffer {
  return turn.use(UserSecrets).seal(sealedFor(relayId), credential, turn.random);
}

/** In plain text; undefined if the relay has none, or if it was sealed under another root secret. */
export function credentialOf(view: View, { id }: Relay): string | undefined {
  const relays = listed(view);
  if (relays.length === 0) return view.use(MailSettings).password;
  const { credential = null } = relays.find(({ relay }) => relay.id === id) ?? {};
  if (credential === null) return undefined;
  try {
    return view.use(UserSecrets).open(sealedFor(id), credential);
  } catch {
    return undefined;
  }
}

/** Whether it has the credentials without which it cannot send. */
export function isUsable(view: View, relay: Relay): boolean {
  if (!relay.enabled) return false;
  if (relay.kind === 'smtp' && relay.username === null) return true;
  return credentialOf(view, relay) !== undefined;
}

export const isConfigured = (view: View): boolean => relaysOf(view).some((relay) => isUsable(view, relay));

const notAvailable = refuse.notImplemented(
  'This server sends by its settings alone. Only the test is available.',
  'email-delivery-not-available',
);

/** The operator has turned the administration off and uses the relay of the settings. */
export const notInDirectMode = (view: Pick<View, 'use'>): Refused | undefined =>
  view.use(MailSettings).mode === 'direct' ? notAvailable : undefined;
