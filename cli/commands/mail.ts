/** The commands of `mail`. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MailService, type QueuedMail, type Relay } from '../../proto/generated/scriptorium/v1/mail.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { counted, formatTable, isoOf, timestamp } from '../table.ts';
import type { AddCommands } from './command.ts';

const idHelp = 'the id of the mail, as `mail queue` lists it';
const example = 'reminder:5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11:1';

export const addMailCommands: AddCommands = (program, run) => {
  const mail = program
    .command('mail')
    .summary('relays, what waits to be sent, and what became of it')
    .description(
      'See and set how the server sends mail. Nobody sees the content or the recipient of a mail.',
    );
  mail
    .command('relays')
    .summary('list the relays')
    .description('List the relays in the order in which they are tried.')
    .action(() => run(showRelays))
    .teach(
      'To see which relays send mail. While the list is empty, the relay of the settings is used.',
      'mail relays',
    );
  mail
    .command('set-relays')
    .argument(
      '<file>',
      'JSON with `relays` and `fallback`, as `mail relays --json` shows them; - is standard input',
    )
    .summary('replace the list of relays')
    .description(
      'Replace the list of relays as a whole. `credential` of a relay is its password or key; left out, it keeps the one it has.',
    )
    .action((file) => run((session) => setRelays(session, file)))
    .teach(
      'When mail is to go another way. Secrets are read from the file, so no other process sees them as an argument.',
      'mail relays --json > relays.json',
      'mail set-relays relays.json',
    );
  mail
    .command('test')
    .argument('<recipient>', 'an address of your own')
    .option('--relay <id>', 'this one; otherwise the first that can send', '')
    .summary('send a test through a relay')
    .description('Send a fixed text through a relay at once, outside the queue.')
    .action((recipient, { relay }) => run((session) => test(session, recipient, relay)))
    .teach('After relays were changed.', 'mail test you@example.org');
  mail
    .command('queue')
    .option('--state <state>', 'ready, leased or dead', 'dead')
    .option('--after <token>', 'the page that comes then', '')
    .summary('list mails that are ready, leased or dead')
    .description('List mails that wait, are being sent, or will not be tried again, the oldest first.')
    .action(({ state, after }) => run((session) => showQueue(session, state, after)))
    .teach('When readiness says mail: degraded, or when somebody misses a mail.', 'mail queue --state ready');
  mail
    .command('log')
    .option('--relay <id>', 'of this relay alone', '')
    .option('--outcome <outcome>', 'of this outcome alone', '')
    .option('--after <token>', 'the page that comes then', '')
    .summary('list what became of attempts')
    .description('List the attempts to send mail and what became of each, the newest first.')
    .action((options) => run((session) => showLog(session, options)))
    .teach('To see which relay fails, and how.', 'mail log --outcome transient-failure');
  mail
    .command('audit')
    .option('--after <token>', 'the page that comes then', '')
    .summary('list what administrators did with mail')
    .description(
      'List what administrators and operators did with relays and the queue, the newest first: who, when, what, and to which relay or mail.',
    )
    .action(({ after }) => run((session) => showAudit(session, after)))
    .teach(
      'To see who replaced the relays, or where a password went. `move-credentials` names a relay whose kept password goes to another place.',
      'mail audit',
    );
  mail
    .command('retry')
    .argument('<id>', idHelp)
    .summary('have a mail tried again now')
    .description('Have a mail that is dead, or waits for its next attempt, tried again now.')
    .action((id) =>
      run(async (session) => {
        const { mail: retried } = await session.ask(MailService.retry, { id });
        session.answer(retried === undefined ? { id } : mailRecord(retried), 'The mail is tried again.');
      }),
    )
    .teach(
      'When what kept it from being sent is mended. One that may have arrived already would arrive twice.',
      `mail retry ${example}`,
    );
  mail
    .command('discard')
    .argument('<id>', idHelp)
    .option('--yes', 'do it')
    .summary('throw a mail away')
    .description('Throw a mail away. It cannot be had back.')
    .action((id, { yes = false }) => run((session) => discard(session, id, yes)))
    .teach('When a dead mail is of no use any more.', `mail discard ${example} --yes`);
};

async function showRelays(session: CommandSession): Promise<void> {
  const { relays, fallback, configured } = await session.ask(MailService.listRelays, {});
  const listed = relays.map(({ credential: _, ...relay }) => relay);
  session.answer({ relays: listed, fallback, configured }, () =>
    [tableOf(relays), configured ? 'Mail can be sent.' : 'No relay can send.'].join('\n'),
  );
}

function tableOf(relays: readonly Relay[]): string {
  const rows = relays.map(({ id, kind, enabled, from, host, domain, credentialsConfigured }) => {
    return [
      id,
      kind,
      enabled ? 'yes' : 'no',
      from,
      host || domain || '-',
      credentialsConfigured ? 'yes' : 'no',
    ];
  });
  return formatTable(['ID', 'KIND', 'ENABLED', 'FROM', 'WHERE', 'CREDENTIAL'], rows);
}

const text = z.string().default('');
const number = z.int().default(0);
const relayFile = z.object({
  relays: z.array(
    z.object({
      id: text,
      kind: text,
      name: text,
      enabled: z.boolean().default(true),
      from: text,
      perMinute: number,
      perDay: number,
      host: text,
      port: number,
      security: text,
      username: text,
      plaintextCredentials: z.boolean().default(false),
      domain: text,
      region: text,
      credential: text,
    }),
  ),
  fallback: z.string().default('next-enabled'),
});

async function setRelays(session: CommandSession, file: string): Promise<void> {
  const { relays, fallback } = relaysFrom(file);
  const requested = relays.map((relay) => ({ ...relay, credentialsConfigured: false }));
  const set = await session.ask(MailService.setRelays, { relays: requested, fallback });
  const { configured } = set;
  session.answer({ relays: set.relays.length, configured }, `${counted(set.relays.length, 'relay')} set.`);
}

const standardInput = 0;

/** Says only which part of the file is wrong, and nothing else about its content. */
function relaysFrom(file: string): z.infer<typeof relayFile> {
  try {
    return relayFile.parse(JSON.parse(readFileSync(file === '-' ? standardInput : file, 'utf8')));
  } catch (error) {
    const where = error instanceof z.ZodError ? `: ${error.issues[0]?.path.join('.')}` : '';
    throw CommandFailure.usage(`${file} cannot be read as a list of relays${where}.`);
  }
}

async function test(session: CommandSession, recipient: string, relayId: string): Promise<number> {
  const { accepted, outcome, ...tested } = await session.ask(MailService.test, { recipient, relayId });
  session.answer(
    { accepted, outcome, relayId: tested.relayId },
    accepted ? `${tested.relayId} has taken the mail.` : `${tested.relayId} has not taken it: ${outcome}.`,
  );
  return accepted ? exitCodes.ok : exitCodes.refused;
}

async function showQueue(session: CommandSession, state: string, pageToken: string): Promise<void> {
  const { mails, nextPageToken } = await session.ask(MailService.listQueue, {
    state,
    pageSize: 0,
    pageToken,
  });
  session.answer({ mails: mails.map(mailRecord), after: nextPageToken || null }, () => {
    const rows = mails.map(({ id, source, attempts, lastFailure, created, nextAttempt }) => {
      return [id, source, attempts, lastFailure || '-', timestamp(created), timestamp(nextAttempt)];
    });
    const titles = ['ID', 'SOURCE', 'ATTEMPTS', 'FAILURE', 'CREATED', 'NEXT'];
    return withMore(formatTable(titles, rows), nextPageToken);
  });
}

const mailRecord = ({ created, updated, nextAttempt, leaseExpires, ...mail }: QueuedMail) => ({
  ...mail,
  created: isoOf(created),
  updated: isoOf(updated),
  nextAttempt: isoOf(nextAttempt),
  leaseExpires: isoOf(leaseExpires),
});

interface LogOptions {
  readonly relay: string;
  readonly outcome: string;
  readonly after: string;
}

async function showLog(
  session: CommandSession,
  { relay: relayId, outcome, after }: LogOptions,
): Promise<void> {
  const request = { relayId, outcome, pageSize: 0, pageToken: after };
  const { attempts, nextPageToken } = await session.ask(MailService.listLog, request);
  const listed = attempts.map(({ started, ...attempt }) => ({ ...attempt, started: isoOf(started) }));
  session.answer({ attempts: listed, after: nextPageToken || null }, () => {
    const rows = attempts.map((each) => {
      const { started, relayId, source, attempt, failure, durationMs } = each;
      return [timestamp(started), relayId, source, attempt, each.outcome, failure || '-', durationMs];
    });
    const titles = ['STARTED', 'RELAY', 'SOURCE', 'ATTEMPT', 'OUTCOME', 'FAILURE', 'MS'];
    return withMore(formatTable(titles, rows), nextPageToken);
  });
}

async function showAudit(session: CommandSession, pageToken: string): Promise<void> {
  const page = { pageSize: 0, pageToken };
  const { operations, nextPageToken } = await session.ask(MailService.listAudit, page);
  const listed = operations.map(({ at, ...operation }) => ({ ...operation, at: isoOf(at) }));
  session.answer({ operations: listed, after: nextPageToken || null }, () => {
    const rows = operations.map(({ at, actor, operation, target }) => [
      timestamp(at),
      actor,
      operation,
      target || '-',
    ]);
    return withMore(formatTable(['AT', 'WHO', 'OPERATION', 'TARGET'], rows), nextPageToken);
  });
}

const withMore = (table: string, nextPageToken: string): string =>
  nextPageToken === '' ? table : `${table}\nMore: --after ${nextPageToken}`;

async function discard(session: CommandSession, id: string, yes: boolean): Promise<void> {
  if (!yes) throw CommandFailure.refused('This would throw the mail away. Use --yes to do it.');
  await session.ask(MailService.discard, { id });
  session.answer({ id }, 'The mail is thrown away.');
}
