/** What this server does otherwise than the interface says, on purpose. */
import type { Difference } from './promise.ts';

const behaviour = (file: string, title: string) => [`test/behaviour/${file}.test.ts`, title] as const;

export const differences: readonly Difference[] = [
  {
    says: 'The session of a caller is validated by a row of the gateway that is open inside alone.',
    instead:
      'Other services of the operator ask over gRPC (proto/scriptorium/v1/sessions.proto); there is no such path over HTTP.',
    because:
      'A path of the public gateway that must not be public is one rule of a proxy away from being it.',
    provenBy: [
      behaviour(
        'operations/internal-api',
        'a caller with a living session is described by user, session, roles and access, and nothing secret',
      ),
    ],
  },
  {
    says: 'The settings of a calendar lie in two JSON files of a data directory, of 1 MiB each.',
    instead:
      'To-dos and tokens are rows of the database, with bounds of their own for each account and for the server.',
    because:
      'Several processes serve one calendar, and a file belongs to one of them. CALDAV_DATA_PATH does nothing.',
    provenBy: [behaviour('calendar/todos', 'an account may hold sixteen mebibytes of to-dos')],
  },
  {
    says: 'A calendar token is kept as a salt and its scrypt hash.',
    instead: 'It is kept as a salted Argon2id hash.',
    because: 'The server has one hash for what users prove themselves by.',
    provenBy: [
      behaviour('calendar/dav', 'a token that is not there any more costs what a wrong one does: one hash'),
    ],
  },
  {
    says: 'Pairings are kept in one encrypted file.',
    instead: 'They are rows of the database, sealed under the same key.',
    because: 'Several processes use one pairing. The promises about the file hold of the rows.',
    provenBy: [
      behaviour(
        'assistant/pairing',
        'under another key nothing is read or changed, and under its own all is there again',
      ),
    ],
  },
  {
    says: 'Some rows need a token of the gateway beside the session.',
    instead: 'The session alone is asked for: it names its user, and the actor of that user checks it.',
    because: 'One process has no inside that a token of its own would protect.',
    provenBy: [behaviour('sockets/sockets', 'tokens and tickets are for sessions alone')],
  },
];
