/**
 * The list of relays, in the order of their priority. Administrators see and replace it as a whole.
 *
 * A relay that comes without credentials keeps those it has, even when its host changes: the interface promises that. So an
 * administrator can have a password that they may not see sent to a host of their choice. The audit therefore names each relay
 * whose kept credentials go to another server. And a password is never sent without TLS unless the same list allows it.
 */
import { z } from 'zod';
import { command, type Turn, type View } from '../../../runtime/command.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { namedAddress, namedAddressText } from '../address.ts';
import { auditOperation } from '../log-table.ts';
import { MailAdministration } from '../operator-contract.ts';
import { forgetUse } from '../relay-use.ts';
import {
  directRelayId,
  exposesPassword,
  fallbackModes,
  isConfigured,
  notInDirectMode,
  type Relay,
  regions,
  relayKinds,
  relaysMax,
  relaysSlice,
  type StoredRelay,
  sealCredential,
  securities,
} from '../relays.ts';
import { implicitTlsPort } from '../settings.ts';
import { wakeWorkers } from '../workers.ts';

const invalid = (what: string): Refused => refuse.badRequest(what, 'invalid-relay');
const invalidKind = refuse.badRequest(
  'The kind of a relay is smtp, sendgrid, mailgun or postmark, and never changes.',
  'invalid-relay-kind',
);

const form = z.object({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
    .optional(),
  kind: z.enum(relayKinds),
  name: z.string().max(100).optional(),
  enabled: z.boolean().optional(),
  from: z.string().max(400).transform(namedAddress),
  rateLimit: z.object({ perMinute: z.int().min(1).nullish(), perDay: z.int().min(1).nullish() }).nullish(),
  host: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$|^[0-9a-f:]{2,45}$/i)
    .optional(),
  port: z.int().min(1).max(65_535).optional(),
  security: z.enum(securities).optional(),
  username: z.string().max(320).nullish(),
  plaintextCredentials: z.boolean().optional(),
  domain: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i)
    .optional(),
  region: z.enum(regions).optional(),
  credentials: z
    .object({
      password: z.string().min(1).max(1_024).nullish(),
      /** The key is sent in a header, so it may contain only these characters. */
      apiKey: z
        .string()
        .regex(/^[\x21-\x7e]{1,1024}$/)
        .nullish(),
    })
    .nullish(),
});
type RelayForm = z.infer<typeof form>;

export const listRelays = command(MailAdministration.commands.listRelays, {
  creates: true,
  turn: (view) => notInDirectMode(view) ?? { ok: viewOf(view) },
});

export const setRelays = command(MailAdministration.commands.setRelays, {
  creates: true,
  repeat: 'recorded',
  turn: (turn, { by, relays, fallbackPolicy }) => {
    const mode = z.object({ mode: z.enum(fallbackModes) }).safeParse(fallbackPolicy);
    const refused = notInDirectMode(turn);
    if (refused !== undefined) return refused;
    if (!mode.success)
      return refuse.badRequest(
        'The fallback policy must be next-enabled or none.',
        'invalid-fallback-policy',
      );
    const list = listOf(turn, relays);
    if (isRefused(list)) return list;
    const before = turn.get(relaysSlice);
    const same = list.filter(({ relay }) => before.relays.some((each) => isSameServer(each.relay, relay)));
    const known = [...before.relays.map(({ relay }) => relay.id), directRelayId];
    forgetUse(
      turn,
      known.filter((id) => !same.some(({ relay }) => relay.id === id)),
    );
    turn.set(relaysSlice, { relays: list, fallback: mode.data.mode, version: before.version + 1 });
    auditOperation(turn, by, 'replace-relays', '');
    for (const id of movedCredentials(before.relays, list)) auditOperation(turn, by, 'move-credentials', id);
    wakeWorkers(turn);
    return { ok: viewOf(turn) };
  },
});

function viewOf(view: View) {
  const { relays, fallback } = view.get(relaysSlice);
  return {
    relays: relays.map(({ relay, credential }, priority) => ({
      ...relay,
      priority,
      from: namedAddressText(relay.from),
      credentialsConfigured: credential !== null,
    })),
    fallbackPolicy: { mode: fallback },
    configured: isConfigured(view),
  };
}

function listOf(turn: Turn, value: unknown): readonly StoredRelay[] | Refused {
  if (!Array.isArray(value) || value.length > relaysMax)
    return invalid(`The relays are a list of at most ${relaysMax}.`);
  const list: StoredRelay[] = [];
  for (const each of value) {
    const stored = storedOf(turn, each);
    if (isRefused(stored)) return stored;
    if (list.some(({ relay }) => relay.id === stored.relay.id)) return invalid('Two relays have one id.');
    list.push(stored);
  }
  return list;
}

function storedOf(turn: Turn, value: unknown): StoredRelay | Refused {
  const kind = z.object({ kind: z.enum(relayKinds) }).safeParse(value);
  if (!kind.success) return invalidKind;
  const parsed = form.safeParse(value);
  if (!parsed.success)
    return invalid(`A relay has a field that is not valid: ${String(parsed.error.issues[0]?.path[0])}.`);
  const relay = relayOf(turn, parsed.data);
  if (isRefused(relay)) return relay;
  const before = turn.get(relaysSlice).relays.find((each) => each.relay.id === relay.id);
  if (before !== undefined && before.relay.kind !== relay.kind) return invalidKind;
  const credential = credentialFor(turn, relay, before?.credential ?? null, parsed.data.credentials);
  return isRefused(credential) ? credential : { relay, credential };
}

function relayOf(turn: Turn, form: RelayForm): Relay | Refused {
  const { id = `relay-${turn.random.uuid().slice(0, 8)}`, name = '', enabled = true, from } = form;
  if (id === directRelayId) return invalid('This id is that of the relay of the settings.');
  if (from === undefined) return invalid('The sender is one address, alone or as Name <address>.');
  const { perMinute = null, perDay = null } = form.rateLimit ?? {};
  const common = { id, name, enabled, from, rateLimit: { perMinute, perDay } };
  switch (form.kind) {
    case 'smtp':
      return smtpOf(common, form);
    case 'mailgun':
      if (form.domain === undefined) return invalid('A relay of Mailgun has a domain.');
      return { ...common, kind: 'mailgun', domain: form.domain.toLowerCase(), region: form.region ?? 'us' };
    default:
      return { ...common, kind: form.kind };
  }
}

type Common = Pick<Relay, 'id' | 'name' | 'enabled' | 'from' | 'rateLimit'>;

function smtpOf(common: Common, form: RelayForm): Relay | Refused {
  const { security = 'starttls', plaintextCredentials = false } = form;
  if (form.host === undefined) return invalid('A relay of SMTP has a host.');
  const host = form.host.toLowerCase();
  const username = form.username || null;
  const port = form.port ?? (security === 'implicit' ? implicitTlsPort : 587);
  const relay: Relay = {
    ...common,
    kind: 'smtp',
    host,
    port,
    security,
    username,
    plaintextCredentials,
  };
  if (!exposesPassword(relay)) return relay;
  return invalid(
    'With security none the password would be sent in plain text. Use starttls or implicit, or set plaintextCredentials to true.',
  );
}

function credentialFor(
  turn: Turn,
  relay: Relay,
  stored: Uint8Array | null,
  credential: RelayForm['credentials'],
): Uint8Array | null | Refused {
  if (credential === null) return null;
  if (credential === undefined) return stored;
  const text = relay.kind === 'smtp' ? credential.password : credential.apiKey;
  if (text === null) return null;
  if (text === undefined) return invalid('The credentials are a password for SMTP, else an apiKey.');
  return sealCredential(turn, relay.id, text);
}

/** The ids of relays that have moved to another server and kept their credentials. */
function movedCredentials(before: readonly StoredRelay[], after: readonly StoredRelay[]): readonly string[] {
  const moved = after.filter(({ relay, credential }) => {
    const old = before.find((each) => each.relay.id === relay.id);
    const keepsCredential = old !== undefined && credential !== null && credential === old.credential;
    return keepsCredential && !isSameServer(old.relay, relay);
  });
  return moved.map(({ relay }) => relay.id);
}

/** Whether credentials of one relay would reach the other server, as the same user. */
function isSameServer(one: Relay, other: Relay): boolean {
  const serverOf = (relay: Relay) => {
    const { id, kind } = relay;
    if (kind === 'smtp') return [id, kind, relay.host, relay.port, relay.security, relay.username];
    if (kind === 'mailgun') return [id, kind, relay.domain, relay.region];
    return [id, kind];
  };
  return JSON.stringify(serverOf(one)) === JSON.stringify(serverOf(other));
}
