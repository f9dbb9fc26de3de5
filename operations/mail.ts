/** `scriptorium.v1.Mail`: relays, the queue and its log, the same as for administrators in a client. */
import { mailerId } from '../actors/mailer/contract.ts';
import { MailAdministration } from '../actors/mailer/operator-contract.ts';
import type { MailAttempt, MailService, QueuedMail, Relay } from '../proto/generated/scriptorium/v1/mail.ts';
import type { Handlers } from './calls.ts';
import { okOrThrow, timeOf } from './errors.ts';
import { textField } from './fields.ts';
import type { InternalApiOptions } from './internal-api-options.ts';

type Options = Pick<InternalApiOptions, 'actors' | 'logger'>;

/** The name of the actor in the audit of the mailer. */
const by = 'operator';

export function mailHandlers({ actors, logger }: Options): Handlers<MailService> {
  const mailer = actors.get(MailAdministration, mailerId).ask;
  return {
    async listRelays(_request, ask) {
      return relayList(okOrThrow(await mailer.listRelays({}, ask)));
    },

    async setRelays({ relays, fallback }, ask) {
      const request = { by, relays: relays.map(relayInput), fallbackPolicy: { mode: fallback } };
      const answer = okOrThrow(await mailer.setRelays(request, ask));
      logger.info({ relays: relays.length }, 'an operator has replaced the relays of mail');
      return relayList(answer);
    },

    async test({ recipient, relayId }, ask) {
      const { accepted: isAccepted, ...rest } = okOrThrow(
        await mailer.test(
          { by, recipient: textField('recipient', recipient), ...presentIn({ relayId }) },
          ask,
        ),
      );
      return { accepted: isAccepted, relayId: rest.relay.id, outcome: rest.outcome };
    },

    async listQueue({ state, pageSize, pageToken }, ask) {
      const page = presentIn({ limit: pageSize, cursor: pageToken });
      const { records, nextCursor } = okOrThrow(await mailer.listQueue({ state, ...page }, ask));
      return { mails: records.map(queuedMail), nextPageToken: nextCursor ?? '' };
    },

    async listLog({ relayId, outcome, pageSize, pageToken }, ask) {
      const page = presentIn({ relayId, outcome, limit: pageSize, cursor: pageToken });
      const { entries, nextCursor } = okOrThrow(await mailer.listLog(page, ask));
      return { attempts: entries.map(attempt), nextPageToken: nextCursor ?? '' };
    },

    async listAudit({ pageSize, pageToken }, ask) {
      const page = presentIn({ limit: pageSize, cursor: pageToken });
      const { entries, nextCursor } = okOrThrow(await mailer.listAudit(page, ask));
      const operations = entries.map((entry) => ({ ...entry, at: timeOf(entry.at) }));
      return { operations, nextPageToken: nextCursor ?? '' };
    },

    async retry(request, ask) {
      const id = textField('id', request.id);
      const { record } = okOrThrow(await mailer.retry({ by, id }, ask));
      logger.info({ id }, 'an operator has a mail tried again');
      return { mail: queuedMail(record) };
    },

    async discard(request, ask) {
      const id = textField('id', request.id);
      okOrThrow(await mailer.discard({ by, id }, ask));
      logger.info({ id }, 'an operator has thrown a mail away');
      return {};
    },
  };
}

/** Omitted fields come as an empty text or as 0. */
function presentIn<Fields extends Readonly<Record<string, string | number>>>(
  fields: Fields,
): Partial<Fields> {
  const present = Object.entries(fields).filter(([, value]) => value !== '' && value !== 0);
  return Object.fromEntries(present) as Partial<Fields>;
}

/** The relay as a client would send it. */
function relayInput({ kind, enabled, credential, credentialsConfigured: _, ...relay }: Relay) {
  const { perMinute, perDay, plaintextCredentials, ...rest } = relay;
  return {
    ...presentIn(rest),
    kind,
    enabled,
    plaintextCredentials,
    rateLimit: presentIn({ perMinute, perDay }),
    ...(credential !== '' && {
      credentials: kind === 'smtp' ? { password: credential } : { apiKey: credential },
    }),
  };
}

type Views = typeof MailAdministration.commands;
type OkOf<Command extends keyof Views> = Extract<
  Awaited<ReturnType<Views[Command]['reply']['parse']>>,
  { readonly ok: unknown }
>['ok'];

function relayList({ relays, fallbackPolicy, configured }: OkOf<'listRelays'>) {
  return { relays: relays.map(relayResponse), fallback: fallbackPolicy.mode, configured };
}

function relayResponse(relay: OkOf<'listRelays'>['relays'][number]): Relay {
  const { id, kind, name, enabled, from, rateLimit, credentialsConfigured } = relay;
  const { host = '', port = 0, security = '', username, domain = '', region = '' } = relay;
  const { plaintextCredentials = false } = relay;
  return {
    id,
    kind,
    name,
    enabled,
    from,
    credentialsConfigured,
    credential: '',
    perMinute: rateLimit.perMinute ?? 0,
    perDay: rateLimit.perDay ?? 0,
    host,
    port,
    security,
    username: username ?? '',
    plaintextCredentials,
    domain,
    region,
  };
}

function queuedMail(record: OkOf<'listQueue'>['records'][number]): QueuedMail {
  return {
    id: record.id,
    state: record.state,
    source: record.source,
    attempts: record.attempts,
    attemptsMax: record.maxAttempts ?? 0,
    created: timeOf(record.createdAt),
    updated: timeOf(record.updatedAt),
    nextAttempt: timeOf(record.nextAttemptAt),
    leaseExpires: timeOf(record.leaseExpiresAt),
    lastFailure: record.lastFailure ?? '',
  };
}

function attempt({ queueId, failure, startedAt, ...entry }: OkOf<'listLog'>['entries'][number]): MailAttempt {
  return { ...entry, mailId: queueId ?? '', failure: failure ?? '', started: timeOf(startedAt) };
}
