/** The deliberate differences between this server and the interface. */
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
    says: 'Of to-dos, start and due are compared as they were given.',
    instead: 'Due has to be later than start by a whole second.',
    because:
      'The format of calendars has no fractions: programs would read a to-do that is due when it starts.',
    provenBy: [behaviour('calendar/todos', 'a body that is no to-do is refused by the field that is wrong')],
  },
  {
    says: 'The uid of a to-do is a text, and so are its words.',
    instead:
      'A uid has 1 to 255 characters without slashes. Neither it nor the words have control characters but tabs and line ends.',
    because: 'A uid is part of an address, and XML cannot hold the other characters.',
    provenBy: [behaviour('calendar/todos', 'a body that is no to-do is refused by the field that is wrong')],
  },
  {
    says: 'A switch fires when its owner has not checked in by the deadline.',
    instead:
      'After an outage the owner gets the lost time back, a day at most. Nothing is sent while the account is banned.',
    because: 'Neither could the owner check in meanwhile, and a mail that has left cannot be called back.',
    provenBy: [
      behaviour(
        'mail/switches',
        'a deadline that passed in an outage moves on by as long as the server was away, and its owner is warned',
      ),
      behaviour(
        'mail/switches',
        'nothing is sent for an account while it is banned; afterwards its deadlines move on',
      ),
    ],
  },
  {
    says: 'Reminders, what is published and where it goes are stored in plain text.',
    instead:
      'The server can read them, as it has to send them, and stores them encrypted under a key of the user.',
    because: 'A copy of the database alone should tell nobody what users wrote, and to whom.',
    provenBy: [
      behaviour(
        'accounts/secrets',
        'nothing that lets a program or device in is in the database as it was given, and no words for a mail or a calendar',
      ),
    ],
  },
  {
    says: 'Every setting, and the secret of the authenticator app, is read by its row.',
    instead: 'Of a secret it is told that it is set. That of the app is shown until a code was made from it.',
    because: 'A session that was stolen would otherwise take the second factor with it.',
    provenBy: [
      behaviour('accounts/settings', 'a secret is told to be set and never shown'),
      behaviour('accounts/authenticator-app', 'a code made from the offered secret turns the factor on'),
    ],
  },
  {
    says: 'Connections of sockets are registered, and their end, by a header alone.',
    instead:
      'The beginning needs the token of the socket as well, the end does not; nothing is noted of either.',
    because:
      'Sockets end at the gateway, which knows its own. So a front of its own has nothing to register.',
    provenBy: [
      behaviour(
        'sockets/sockets',
        'a front of its own tells of a connection by its token, and of its end without one',
      ),
    ],
  },
  {
    says: 'Whether realtime sync is there is told to sessions.',
    instead: 'It is told to everybody.',
    because:
      'It says nothing of any user, and clients ask for it by plain requests, some before they have a session.',
    provenBy: [behaviour('sockets/sync-lane', 'the lane is told of to everybody, without an envelope')],
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
  {
    says: 'What became of a sign-in that waits for an approval is told to sessions.',
    instead: 'The device that waits is told as well. It has no session and shows the secret that it got.',
    because: 'Existing clients ask so, and nobody else can learn that the sign-in has passed.',
    provenBy: [behaviour('accounts/second-factor', 'another device lets a sign-in pass, once')],
  },
  {
    says: 'Everything about published reminders but opting out needs both feature flags.',
    instead: 'Looking at the flags needs neither.',
    because: 'It is there that a client learns which flag is off.',
    provenBy: [
      behaviour(
        'mail/reminder-delivery',
        'feature flags are read with every request; only the ways to look at them and to leave are open',
      ),
    ],
  },
  {
    says: 'Unpairing is 503 where the settings or the profiles cannot be read.',
    instead: 'Profiles are a setting of the process, which does not start when it cannot read them.',
    because: 'A process that answers has read its profiles, so there is nothing left to fail.',
  },
  {
    says: 'A bridge counts as unhealthy after three syncs in a row that failed.',
    instead: 'Bridges decide that. The server answers each of their syncs as it answers any other.',
    because: 'Bridges are programs of their own. Nothing of their health is known to the server.',
  },
  {
    says: 'One process with its queue in memory has no relays to administer.',
    instead: 'One process has them too. Only EMAIL_DELIVERY_MODE=direct does without.',
    because: 'The queue is in the database, however many processes there are.',
    provenBy: [
      behaviour(
        'mail/administration',
        'where the settings alone decide, only the test and the audit of it are served',
      ),
    ],
  },
  {
    says: 'An account has up to 100 calendar tokens, and the server 10,000.',
    instead: 'Of those that are left an account may hold a hundredth, and always one.',
    because: 'A hundred accounts could otherwise take all of them.',
    provenBy: [
      [
        'test/attacks/shares-of-all.test.ts',
        'accounts that make all the calendar tokens they can leave some to others',
      ],
    ],
  },
  {
    says: 'A signed-in caller gets the list of sessions.',
    instead: 'A session that may only read gets an empty list.',
    because: 'The list shows addresses and devices of the owner, which a read-only bridge does not need.',
    provenBy: [
      behaviour('accounts/sessions', 'a read-only account may sign out and look, and change nothing'),
    ],
  },
  {
    says: 'A token for the offline endpoints is made on request.',
    instead: 'It is mailed to the address that was named, and is in no answer.',
    because: 'The row is public: the answer would give the token to anybody who knows the address.',
    provenBy: [
      behaviour(
        'accounts/subscription-tokens',
        'a token is mailed to the account of an address, and shown to nobody else',
      ),
    ],
  },
];
