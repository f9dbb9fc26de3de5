/**
 * The interface's promises in words, besides its rows, told in our own, and the tests that prove them. Deliberate
 * differences are in `differences.ts`.
 */
import type { Promised } from './promise.ts';

const behaviour = (file: string, title: string) => [`test/behaviour/${file}.test.ts`, title] as const;
const attack = (file: string, title: string) => [`test/attacks/${file}.test.ts`, title] as const;

export const promises: readonly Promised[] = [
  // --- the service ------------------------------------------------------------------------------------------
  {
    says: 'The server keeps ciphertext, and shows of an item what its client has sent and nothing that it could not have.',
    provenBy: [behaviour('items/postgres', 'every field comes back as it was saved')],
  },
  {
    says: 'The password never comes: what comes in its place is kept as a hash, and no secret is in the database as it was given.',
    provenBy: [
      behaviour('accounts/secrets', 'no secret of a session is in the database, in any of its rows'),
      behaviour(
        'accounts/secrets',
        'nothing that lets a program or device in is in the database as it was given, and no words for a mail or a calendar',
      ),
      ['actors/identity/password-hasher.test.ts', 'a password is verified by its own hash and by no other'],
    ],
  },
  {
    says: 'One gateway serves everything: files below /files too, sockets at /sockets.',
    provenBy: [
      behaviour(
        'files/files',
        'files are also where clients look that were told of a files server, slash or not',
      ),
      behaviour('sockets/sockets', 'only the exact path is a socket'),
    ],
  },
  {
    says: 'Every role answers the paths of health, and the metadata names the page of the captcha and the files server.',
    provenBy: [
      behaviour('operations/admin', 'the process is alive while it drains, but not ready'),
      ['gateway/routes/health.test.ts', 'the metadata has both forms and the files host'],
    ],
  },
  {
    says: 'Every account has everything; the endpoints of subscriptions are there for clients and take nothing away.',
    provenBy: [
      behaviour(
        'accounts/settings',
        'every account has the same subscription for a hundred years and all features',
      ),
    ],
  },
  {
    says: 'A public share is ciphertext under an id; its key is in the part of the link that no server sees.',
    provenBy: [
      [
        'test/browser/public-shares.test.ts',
        'a note and a tag are shown as text, and their keys reach nobody',
      ],
    ],
  },
  {
    says: 'Without a socket a client has everything by plain syncs.',
    provenBy: [
      behaviour('items/two-devices', 'an item that one device saves is given to the other, once'),
      [
        'test/faults/socket-repair.test.ts',
        'when all hints are lost too, everybody syncs within ten minutes',
      ],
    ],
  },

  // --- sessions and sign-in ---------------------------------------------------------------------------------
  {
    says: 'A session has two tokens with their expiries and says whether it may only read; a sign-in answers with it, the key params and the user.',
    provenBy: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the title is a template
      behaviour('accounts/bodies', 'every reply that opens a session of version ${api} describes it in full'),
      behaviour(
        'accounts/bodies',
        'the secrets of a session change with every refresh, and what names it does not',
      ),
      behaviour('accounts/sessions', 'a read-only account may sign out and look, and change nothing'),
    ],
  },
  {
    says: 'A session is listed with its uuid, its api version, its user agent and its times.',
    provenBy: [
      behaviour('accounts/bodies', 'every session is listed with every field, and which is the caller’s'),
    ],
  },
  {
    says: 'A sign-in that asks for an ephemeral session gets one.',
    provenBy: [
      behaviour(
        'accounts/time',
        'a sign-in that asks for an ephemeral session gets one, and one that does not gets a lasting one',
      ),
    ],
  },
  {
    says: 'Where the operator lets an address have several accounts, a sign-in names the workspace of its own.',
    provenBy: [
      behaviour(
        'accounts/sign-in',
        'workspaces separate accounts of one address only where they are enabled',
      ),
    ],
  },
  {
    says: 'Sign-in goes by PKCE: the verifier has to be that of the challenge, and counts once.',
    provenBy: [
      behaviour('accounts/sign-in', 'a code verifier works in both encodings of its challenge, and once'),
    ],
  },
  {
    says: 'An expired access token is refreshed with the pair, and gets a new one.',
    provenBy: [
      behaviour(
        'accounts/refresh',
        'an expired access token is 498, an expired session 401, and its refresh says so',
      ),
      behaviour('accounts/time', 'a refresh after the access token has expired restarts both expiries'),
    ],
  },
  {
    says: 'Browsers have cookies beside the bearer.',
    provenBy: [
      [
        'test/browser/notes.test.ts',
        'the session lives in cookies, and the token in the client is no secret',
      ],
    ],
  },
  {
    says: 'A second factor is met by a code, a mailed code, a security key, an app password, a trusted device or another device’s approval, and none of them stands in for the password.',
    provenBy: [
      behaviour(
        'accounts/second-factor',
        'with an authenticator app a code is asked for, and only with a right one a login passes',
      ),
      behaviour(
        'accounts/emailed-codes',
        'turned on, a code is asked for in words that have clients ask for the mail, and signs in once',
      ),
      behaviour('accounts/second-factor', 'a security key signs in, and counts before the authenticator app'),
      behaviour(
        'accounts/second-factor',
        'an app password and a trusted device stand in for the factor, and for nothing else',
      ),
      behaviour(
        'accounts/second-factor',
        'once another device approves, the waiting one repeats its sign-in as usual and is in, once, and it alone',
      ),
    ],
  },
  {
    says: 'A token of a trusted device that is wrong or over is ignored: the factor is asked for as ever.',
    provenBy: [
      behaviour(
        'accounts/second-factor',
        'an app password and a trusted device stand in for the factor, and for nothing else',
      ),
    ],
  },
  {
    says: 'Where the operator has set up a captcha, its token opens the registration, and a sign-in after failures.',
    provenBy: [
      behaviour('accounts/sign-in', 'registration needs a solved captcha where one is configured'),
      behaviour(
        'accounts/sign-in',
        'from the sixth failure on a captcha is asked for where one is configured',
      ),
    ],
  },
  {
    says: 'An app password or a trusted device that was revoked meets the factor no more.',
    provenBy: [
      behaviour(
        'accounts/second-factor',
        'an app password and a trusted device that were revoked stand in for the factor no more',
      ),
    ],
  },
  {
    says: 'A bridge signs in by its token alone, and one that reads gets a session that reads.',
    provenBy: [
      behaviour(
        'accounts/bridge-tokens',
        'a bridge signs in with its token alone and gets the keys that were wrapped for it',
      ),
      behaviour(
        'accounts/bridge-tokens',
        'a bridge that may only read saves nothing, also after a refresh that converts its session',
      ),
    ],
  },
  {
    says: 'The password of an app and the token of a bridge are shown once.',
    provenBy: [
      behaviour(
        'accounts/app-passwords',
        'an app password is shown once, listed without the password, and deleted',
      ),
      behaviour(
        'accounts/bridge-tokens',
        'a bridge signs in with its token alone and gets the keys that were wrapped for it',
      ),
    ],
  },
  {
    says: 'What a client wrapped for a bridge, and the tags that it is for, come back as they were given; the part that unwraps it never comes.',
    provenBy: [
      behaviour(
        'accounts/bridge-tokens',
        'a bridge signs in with its token alone and gets the keys that were wrapped for it',
      ),
      behaviour(
        'accounts/bridge-tokens',
        'a bridge that may only read saves nothing, also after a refresh that converts its session',
      ),
    ],
  },
  {
    says: 'What needs the password besides a session takes it in the header x-server-password, and nothing else will do.',
    provenBy: [
      behaviour('accounts/credentials', 'a deletion that is refused says why in the words clients compare'),
      behaviour(
        'accounts/authenticator-app',
        'recovery codes come with the factor, are shown for the password alone, and are replaced by new ones',
      ),
    ],
  },
  {
    says: 'Old names of the rows of sign-in and registration answer as what they stand for.',
    provenBy: [behaviour('interface', 'the aliases of old clients answer as what they stand for')],
  },
  {
    says: 'A code by mail is never in an answer, and cannot be asked for or turned on where no mail can be sent.',
    provenBy: [
      behaviour(
        'accounts/emailed-codes',
        'without mail it can neither be turned on nor asked for, and stays on',
      ),
      behaviour(
        'accounts/emailed-codes',
        'turned on, a code is asked for in words that have clients ask for the mail, and signs in once',
      ),
    ],
  },
  {
    says: 'A subscription is shown by a token in the header x-subscription-token, and never by a path.',
    provenBy: [
      behaviour(
        'accounts/subscription-tokens',
        'a subscription token shows subscription and features of its account, and opens nothing else',
      ),
    ],
  },
  {
    says: 'Payloads name the version of the interface; those of old clients are understood.',
    provenBy: [
      behaviour('items/http', 'api_version is understood as api'),
      behaviour(
        'accounts/sign-in',
        'login says invalid-auth when a field is missing and refuses unknown versions',
      ),
    ],
  },
  {
    says: 'Other services of the operator ask whether a session lives, inside alone.',
    provenBy: [
      behaviour(
        'accounts/sessions',
        'sessions/validate tells the server’s own parts the user and the kind of session',
      ),
    ],
  },

  // --- recovery ---------------------------------------------------------------------------------------------
  {
    says: 'Recovery codes stand in for the second factor alone: they open nothing without the password.',
    provenBy: [
      behaviour(
        'accounts/recovery',
        'right codes do not replace the password, and are not used up by a wrong one',
      ),
    ],
  },
  {
    says: 'What there is no record of, what is malformed and what is old are answered alike.',
    provenBy: [
      behaviour(
        'accounts/recovery',
        'data that no recovery could use is not stored, and one answer stands for whatever there is not',
      ),
    ],
  },
  {
    says: 'Looking up is limited for a network and for a user.',
    provenBy: [
      behaviour(
        'accounts/recovery',
        'look-ups that find nothing are limited for a user and a network, whether there is such a user or not',
      ),
    ],
  },
  {
    says: 'A change of the credentials takes the record away in the same commit.',
    provenBy: [
      behaviour(
        'accounts/settings',
        'a change of the password removes the escrow of the recovery and nothing else',
      ),
    ],
  },
  {
    says: 'No row of administrators sets a password, or shows what an account is recovered with.',
    provenBy: [
      behaviour(
        'accounts/administration',
        'no administrator sets a password or a factor, or is shown what an account is recovered with',
      ),
    ],
  },

  // --- items, revisions, files ------------------------------------------------------------------------------
  {
    says: 'A sync gives what others have saved, what was saved of its own, and what is in conflict, with the tokens to go on.',
    provenBy: [
      behaviour(
        'items/http',
        'no body is an error of the server, and what is accepted accounts for every item',
      ),
      behaviour(
        'items/pages',
        'a first sync comes in pages, each with a sync token, the last without a cursor',
      ),
    ],
  },
  {
    says: 'A sync may name vaults, and gives their items alone then.',
    provenBy: [
      behaviour('vaults/items', 'a sync that names vaults gives their items alone, and every vault'),
    ],
  },
  {
    says: 'What a user owns is found by its uuid and compared by the check of integrity, in vaults too.',
    provenBy: [
      behaviour(
        'vaults/items',
        'an item that a user owns in a vault is found by its uuid and by the check of integrity, as long as they are a member',
      ),
    ],
  },
  {
    says: 'The data of an account is downloaded whole: items, history and a list of files.',
    provenBy: [
      behaviour(
        'accounts/requests',
        'an export has what the account owns in its vaults, the history of items, and a list of files',
      ),
    ],
  },
  {
    says: 'An unmodified client shows the history of a note, restores and deletes it.',
    provenBy: [
      [
        'test/browser/revisions.test.ts',
        'a device lists what a note was, reads it, goes back to it, and deletes it from the history',
      ],
    ],
  },
  {
    says: 'Bytes of files come and go by a valet token that does one thing for one file, and dies with its session.',
    provenBy: [
      attack('files', 'a token does one thing alone'),
      attack('files', 'a token dies with its session, whatever it was doing'),
    ],
  },
  {
    says: 'The address of the files server is in every enveloped answer, and leads to files behind any proxy for this server.',
    provenBy: [
      [
        'test/browser/files.test.ts',
        'a file of several chunks goes up from one device, comes down whole on another, and is deleted',
      ],
    ],
  },

  // --- sockets ----------------------------------------------------------------------------------------------
  {
    says: 'A socket opens by a token of its own, which is good for a minute; credentials in its address open nothing.',
    provenBy: [
      behaviour(
        'sockets/sockets',
        'an upgrade without a token that is right now is refused, and opens nothing',
      ),
    ],
  },
  {
    says: 'A socket opens from the pages that may call the server, and from no others where they are restricted.',
    provenBy: [behaviour('sockets/sockets', 'where origins are restricted, pages of others may not connect')],
  },

  {
    says: 'Realtime sync is offered where it is ready: a ticket is for one device, once, and for a short time; 503 SYNC_DISABLED else.',
    provenBy: [
      behaviour(
        'sockets/sync-lane',
        'a lane that is switched off says so for good, one that is not ready says that it passes',
      ),
      behaviour('sockets/sync-lane', 'a ticket lets its device in once'),
    ],
  },
  {
    says: 'The path of realtime sync is exact, takes no query and listed origins alone; the ticket comes in the first frame.',
    provenBy: [
      behaviour('sockets/sync-lane', 'an upgrade with a query is refused although the query is empty'),
      behaviour(
        'sockets/sync-lane',
        'pages of listed origins, and the server’s own behind a proxy that ends https, may open the lane',
      ),
      behaviour(
        'sockets/sync-lane',
        'a client that does not identify itself, or says something else first, is disconnected',
      ),
    ],
  },

  // --- shares, switches, reminders --------------------------------------------------------------------------
  {
    says: 'A share that is missing or revoked is a 404, and never tells whose it was.',
    provenBy: [
      behaviour('accounts/public-shares', 'an id that is not of ours asks nobody'),
      behaviour(
        'accounts/public-shares',
        'a revoked share is gone when its owner is answered, and so is its ciphertext',
      ),
      behaviour(
        'accounts/public-shares',
        'a share is listed by its owner and opened by anyone with the link, as often as they like',
      ),
    ],
  },
  {
    says: 'A share is of a type, may have a name, a single view or minutes, and is answered with its id when it is made.',
    provenBy: [
      behaviour(
        'accounts/public-shares',
        'a share is listed by its owner and opened by anyone with the link, as often as they like',
      ),
      behaviour('accounts/public-shares', 'a one-time share is opened once, and its ciphertext goes'),
      behaviour(
        'accounts/public-shares',
        'a share is for one view by a literal true, and what is no boolean makes no share',
      ),
    ],
  },
  {
    says: 'A switch whose owner does not check in mails the whole link, once.',
    provenBy: [
      behaviour(
        'mail/switches',
        'it warns its owner a day ahead, fires once, names the account, and tells the owner',
      ),
    ],
  },
  {
    says: 'A check-in moves the deadline of a switch on, also after it has fired.',
    provenBy: [
      behaviour('mail/switches', 'a check-in before the deadline wins'),
      behaviour('mail/switches', 'a check-in after it fired arms it anew'),
    ],
  },
  {
    says: 'A reminder by mail goes to the account’s own address at its time, once.',
    provenBy: [
      behaviour(
        'mail/reminders',
        'a reminder is mailed to the account when it is due, once, and is then shown as sent',
      ),
    ],
  },
  {
    says: 'Publishing needs the operator’s feature flag and the user’s; opting out and looking at the flags never do.',
    provenBy: [
      behaviour(
        'mail/reminder-delivery',
        'feature flags are read with every request; only the ways to look at them and to leave are open',
      ),
    ],
  },
  {
    says: 'Opting out takes away what was published, and is refused while a provider is asked.',
    provenBy: [
      [
        'test/races/reminder-delivery.test.ts',
        'an opt-out while the queue has the mail: it is all gone, and nothing is sent',
      ],
      behaviour(
        'mail/reminder-delivery',
        'an opt-out that is refused calls no mail back, and its attempts go on where they were',
      ),
    ],
  },
  {
    says: 'Opting out tells whether a provider had taken an occurrence before.',
    provenBy: [
      behaviour(
        'mail/reminder-delivery',
        'an opt-out tells of an occurrence that was delivered before the reminder was moved to a later time',
      ),
    ],
  },
  {
    says: 'What can no longer be recalled is not deleted: 409.',
    provenBy: [
      behaviour('mail/reminder-delivery-states', `\${of}: what each request is answered, and what it leaves`),
    ],
  },
  {
    says: 'Where reminders go is not changed while a provider is asked, or has accepted one: 409.',
    provenBy: [
      behaviour('mail/reminder-delivery-states', `\${of}: what each request is answered, and what it leaves`),
    ],
  },
  {
    says: 'A change of what is delivered cancels the occurrence before it.',
    provenBy: [
      behaviour(
        'mail/reminder-delivery',
        'publishing again: the same changes nothing, a change makes another occurrence, and both keep when it was made',
      ),
      [
        'test/races/reminder-delivery.test.ts',
        'another destination while the queue has the mail: it arrives there, once, and nowhere else',
      ],
    ],
  },

  // --- the assistant and its pairings -----------------------------------------------------------------------
  {
    says: 'The profile of the user goes before a role’s, and that before the default; hints of the caller count for nothing.',
    provenBy: [
      behaviour(
        'assistant/stream',
        'the user’s profile goes before a role’s, and that before the default; one that is not there answers nobody',
      ),
    ],
  },
  {
    says: '403 where the assistant is off for the caller, 429 over the budget of the day.',
    provenBy: [
      behaviour(
        'assistant/stream',
        'a caller without permission, an empty request and a user without a profile are refused in this order, and nothing counts',
      ),
      behaviour('assistant/stream', 'as many of many simultaneous requests are answered as a day allows'),
    ],
  },
  {
    says: 'Everybody is told which providers there are and no more; a user is told what is used, the limit and when it begins anew.',
    provenBy: [
      behaviour(
        'assistant/stream',
        'everybody is told which providers are set up, and signed-in users their models',
      ),
      behaviour(
        'assistant/stream',
        'a day has so many answers, and an administrator may set another number for a user',
      ),
    ],
  },
  {
    says: 'A pairing is shown with its account, its expiry, its troubles and its profiles, and never with a token.',
    provenBy: [
      behaviour(
        'assistant/pairing',
        'an administrator pairs a subscription in the browser, and the assistant answers on it',
      ),
      attack(
        'pairing',
        'no code, verifier, token or key is in a log, a metric, an audit trail, the database or an answer to an administrator',
      ),
    ],
  },
  {
    says: 'Nothing of pairing is kept by anybody on the way, refusals included.',
    provenBy: [
      behaviour(
        'assistant/pairing',
        'every answer below the path says that nobody may keep it, refusals of the gateway too',
      ),
    ],
  },
  {
    says: 'The callback is inert HTML, whatever came of it.',
    provenBy: [behaviour('assistant/pairing', 'the callback is an inert page whatever refuses it')],
  },
  {
    says: 'What is malformed or unknown is refused before the provider is asked.',
    provenBy: [behaviour('assistant/pairing', 'an impossible value is refused before the provider is asked')],
  },
  {
    says: 'An attempt is claimed once, completed by the administrator who began it, and over after ten minutes.',
    provenBy: [
      behaviour('assistant/pairing', 'one of two simultaneous callbacks pairs, and the code is sent once'),
      behaviour(
        'assistant/pairing',
        'a pairing is completed by hand by the administrator who started it, and by nobody else',
      ),
      behaviour('assistant/pairing', 'an impossible value is refused before the provider is asked'),
    ],
  },
  {
    says: 'A newer attempt or an unpairing ends the attempts before it, and an exchange under way writes nothing then.',
    provenBy: [
      behaviour('assistant/pairing', `\${name} lets an exchange under way come to nothing`),
      behaviour('assistant/pairing', 'all pairings go by exactly one sentence'),
    ],
  },
  {
    says: 'An attempt is durable until it is over.',
    provenBy: [behaviour('assistant/pairing', 'an attempt outlives the process that began it')],
  },
  {
    says: 'The callback has a limit of its own, which several redirects in a minute do not reach.',
    provenBy: [behaviour('assistant/pairing', 'a client that may not come back too often is told when to')],
  },
  {
    says: 'What a provider answers late, at length, with a redirect or wrongly completes no pairing, and is told to nobody.',
    provenBy: [
      behaviour(
        'assistant/pairing',
        `a provider that answers with \${name} does not complete a pairing, and nobody hears its words`,
      ),
      attack('pairing', `a provider that \${name} is given up after 15 seconds`),
    ],
  },
  {
    says: 'A claim that nobody completes is over after two minutes, and blocks nothing then.',
    provenBy: [
      behaviour(
        'assistant/pairing',
        'a claim whose process died completes nothing, and holds its place for two minutes alone',
      ),
    ],
  },
  {
    says: 'An administrator has 16 attempts, the server 256 pairings.',
    provenBy: [
      behaviour(
        'assistant/pairing',
        'an administrator has 16 attempts at once, and the server 256 subscriptions',
      ),
    ],
  },
  {
    says: 'A token is refreshed before its last minute, failures that pass are waited out, and others need repair.',
    provenBy: [
      behaviour(
        'assistant/pairing-refresh',
        'a token that lives for less than a minute is used right after its refresh, and refreshed once for all callers',
      ),
      behaviour(
        'assistant/pairing-refresh',
        `a refresh that fails by \${how} is tried again later, and meanwhile nobody uses the old token`,
      ),
      behaviour('assistant/pairing-refresh', 'the pause between refreshes doubles and has an end'),
      behaviour(
        'assistant/pairing-refresh',
        'a pairing that its user has revoked needs repair, and pairing again is that',
      ),
    ],
  },
  {
    says: 'A subscription is known by 1 to 128 characters of those that are safe everywhere.',
    provenBy: [
      [
        'actors/pairing/subscription-id.test.ts',
        'an id has 1 to 128 letters, digits, dots, underscores and hyphens, and a letter or digit at both ends',
      ],
      behaviour('assistant/pairing', 'an impossible value is refused before the provider is asked'),
    ],
  },
  {
    says: 'The addresses of the provider are https, or loopback, without credentials, query or fragment; the callback is below PUBLIC_URL.',
    provenBy: [
      [
        'process/config/config.test.ts',
        'a provider of pairings is asked at addresses that keep what is sent there secret',
      ],
    ],
  },
  {
    says: 'Unpairing looks at profiles first, needs a word where some would fail, and the exact sentence for all.',
    provenBy: [
      behaviour(
        'assistant/pairing',
        'a pairing that profiles use is removed when that is confirmed, and they answer nobody then',
      ),
      behaviour('assistant/pairing', 'all pairings go by exactly one sentence'),
    ],
  },
  {
    says: 'A store under another key, or that somebody has altered, is read by nobody and loses nothing.',
    provenBy: [
      attack(
        'pairing',
        `\${name} that somebody has altered in the database makes all unreadable, and nothing is written over it`,
      ),
      behaviour(
        'assistant/pairing',
        'under another key nothing is read or changed, and under its own all is there again',
      ),
    ],
  },
  {
    says: 'Without a key there is no pairing.',
    provenBy: [behaviour('assistant/pairing', 'without a key there is no pairing, and the status says so')],
  },

  // --- code hosts, administrators, mail ---------------------------------------------------------------------
  {
    says: 'What is published to a code host, and the token for it, is neither kept nor logged.',
    provenBy: [
      attack(
        'words-of-users',
        'prompts, and texts published to a calendar or a code host, are in no log, metric or answer to administrators',
      ),
    ],
  },
  {
    says: 'Rows of administrators are refused to everybody else: 403.',
    provenBy: [attack('administration', 'an administrator alone gets anything, by a session of their own')],
  },
  {
    says: 'A code host and a failure of it are told of in words of this server.',
    provenBy: [behaviour('code-host/publish', 'a code host that fails leaks nothing of its answer')],
  },
  {
    says: 'A credential of a relay that is left out is kept, null clears it, and none is shown.',
    provenBy: [
      behaviour(
        'mail/administration',
        'a credential that is left out is kept wherever the relay goes, and the audit tells where it went',
      ),
      behaviour('mail/administration', 'a credential is cleared by null, in its own place too'),
      behaviour(
        'mail/administration',
        'relays are listed in their order and without credentials, and replaced as a whole',
      ),
    ],
  },
  {
    says: 'A relay speaks SMTP or is one of three hosted services.',
    provenBy: [
      [
        'actors/mailer/hosted.test.ts',
        `\${relay.kind} is asked at its fixed address, once the mail is handed over, and follows nobody`,
      ],
    ],
  },
  {
    says: 'A relay gets no more mail than its rate allows.',
    provenBy: [
      behaviour(
        'mail/administration',
        'a relay is given no more mails in a minute and in a day than it takes',
      ),
    ],
  },
  {
    says: 'While mail cannot be administered for a moment it is 503.',
    provenBy: [
      behaviour(
        'mail/administration',
        'while the mailer cannot be reached an administrator is told when to ask again',
      ),
    ],
  },
  {
    says: 'The queue takes 25 MiB of one mail and 64 MiB of all, unless the operator says otherwise.',
    provenBy: [
      [
        'actors/mailer/mailer.test.ts',
        'a mail of up to 25 MiB is sent, or of what the operator allows; a larger one is dead at once',
      ],
      [
        'actors/mailer/mailer.test.ts',
        'the queue takes 64 MiB of mail unless the operator says otherwise, the last of it for codes',
      ],
    ],
  },
  {
    says: 'Relays are a list in its order, each with its id and kind; a test names the relay and says what became of it in a word.',
    provenBy: [
      behaviour(
        'mail/administration',
        'relays are listed in their order and without credentials, and replaced as a whole',
      ),
      behaviour(
        'mail/administration',
        'a test says a class and nothing else, to one address, and few times a minute',
      ),
    ],
  },
  {
    says: 'A mail that is dead or waits is ready once it is to be tried again; one that was thrown away is never sent.',
    provenBy: [
      behaviour(
        'mail/administration',
        'a dead mail and a waiting one are tried again; what is sent, being sent or too late is not',
      ),
      behaviour('mail/administration', 'a mail that was thrown away is not sent any more'),
    ],
  },
  {
    says: 'Mail goes to the next relay, or waits for the first one, as the policy says.',
    provenBy: [
      behaviour(
        'mail/administration',
        'without fallback mail waits for the first relay, also while that is at its rate',
      ),
      behaviour(
        'mail/administration',
        'a mail goes to the next relay where the first cannot send it, if that is the policy',
      ),
    ],
  },
  {
    says: 'Queue and log say what became of a mail, and never to whom it went or what it said.',
    provenBy: [
      behaviour(
        'mail/administration',
        'an administrator sees what became of each mail, and never what it says',
      ),
    ],
  },
  {
    says: 'What is being sent is neither tried again nor thrown away: 409.',
    provenBy: [
      behaviour(
        'mail/administration',
        'a dead mail and a waiting one are tried again; what is sent, being sent or too late is not',
      ),
    ],
  },
  {
    says: 'Where the settings alone decide on mail, there are no relays to administer: 501, and the test is served.',
    provenBy: [
      behaviour(
        'mail/administration',
        'where the settings alone decide, only the test and the audit of it are served',
      ),
    ],
  },
  {
    says: 'What administrators do about mail is recorded by what it was, and not by what it said.',
    provenBy: [
      behaviour(
        'mail/administration',
        'administrators see what administrators did: the actor, the action, its target and time, and nothing else',
      ),
    ],
  },
  {
    says: 'A process is ready while all that its role needs works: service, dependencies, storage and workers.',
    provenBy: [
      behaviour(
        'process/readiness',
        'a check that has failed makes a process unready, unless READY_WITHOUT names just that',
      ),
      behaviour('process/readiness', 'the checks of each role are those in the documents'),
      behaviour(
        'process/readiness',
        'less room than the reserve is a warning: notes are served, and the process stays ready',
      ),
    ],
  },
  {
    says: 'There is room for mail only with 64 MiB to spare.',
    provenBy: [
      [
        'process/mail-disk-space.test.ts',
        'there is no room for mail with less than 64 MiB free, as last heard',
      ],
    ],
  },

  // --- the calendar -----------------------------------------------------------------------------------------
  {
    says: 'To-dos have the bounds and forms that are told of them; one without a uid gets one.',
    provenBy: [
      behaviour('calendar/todos', 'a body that is no to-do is refused by the field that is wrong'),
      behaviour('calendar/todos', 'a to-do of the largest size is published, and taken back by its uid'),
      behaviour('calendar/todos', 'a to-do without a uid gets one, and its times are those of UTC'),
    ],
  },
  {
    says: 'Listing and taking back go on while a feature flag is off; publishing and new tokens do not.',
    provenBy: [
      behaviour('calendar/todos', 'publishing needs both flags on; listing and taking back do not'),
      behaviour('calendar/tokens', 'making a token needs both flags on; all else does not'),
    ],
  },
  {
    says: 'The secret of a calendar token is shown once; a random salt and a scrypt hash of it are kept.',
    provenBy: [
      behaviour('calendar/tokens', 'a token is shown once, listed without its secret, and revoked'),
      [
        'actors/identity/calendar-tokens.test.ts',
        "a calendar program's secret is kept as a scrypt hash, another one for each salt",
      ],
      behaviour('calendar/tokens', 'a secret is kept as its own salt and what was made of both'),
    ],
  },
  {
    says: 'An account has 100 tokens and 10,000 to-dos at most.',
    provenBy: [
      behaviour('calendar/tokens', 'a label is needed, and one token too many is refused'),
      behaviour(
        'calendar/todos',
        'the ten thousand and first to-do of an account is refused, until there is one less',
      ),
    ],
  },
  {
    says: 'A program shows a calendar token as the password of HTTP Basic, under any name that is not empty.',
    provenBy: [
      behaviour('calendar/dav', 'a program shows its token as the password, under any name but an empty one'),
    ],
  },
  {
    says: 'A program reads the calendar of its own account alone.',
    provenBy: [
      behaviour('calendar/dav', 'impossible requests are refused as programs expect'),
      behaviour('calendar/todos', "nobody sees or changes another user's to-do"),
    ],
  },
  {
    says: 'Programs find the calendar from its base path, with ETags, conditions, queries and objects by name; what writes is a 405.',
    provenBy: [
      behaviour('calendar/dav', 'a program finds its way from the base path to the objects'),
      behaviour('calendar/dav', 'an object is the same text with the same ETag wherever it is read'),
      behaviour('calendar/dav', 'conditions are about the ETag alone'),
      behaviour('calendar/dav', 'a query is answered by its components and by the properties of a to-do'),
      behaviour('calendar/dav', 'impossible requests are refused as programs expect'),
    ],
  },
  {
    says: 'An object that is not there is a 404 of its own among those that were asked for.',
    provenBy: [
      behaviour(
        'calendar/dav',
        'objects that are named are answered in the order asked, those that are not there or not theirs with 404',
      ),
    ],
  },
  {
    says: 'Texts are escaped and folded so that programs read them as they were published.',
    provenBy: [
      behaviour(
        'calendar/parsed-back',
        'hostile texts are read back by ical.js and by icalendar of Python as they were published',
      ),
    ],
  },
  {
    says: 'While the operator’s switch is off there is nothing below the base path: 404.',
    provenBy: [behaviour('calendar/dav', 'without the master switch there is nothing below the base path')],
  },

  // --- errors and the rest ----------------------------------------------------------------------------------
  {
    says: 'A setting does something or is refused: nothing is accepted and ignored that the server would have to act on.',
    provenBy: [
      behaviour(
        'accounts/settings',
        'backups by e-mail are asked for only where they can come, and the answer says why not',
      ),
      behaviour(
        'mail/backups',
        'a backup comes as soon as it is wanted, and then every day: all items, as clients import them',
      ),
      behaviour(
        'mail/reminders',
        'until a user turns reminders off they are made and sent; then none is made, and the answer says why',
      ),
      behaviour(
        'sockets/sync-lane-sessions',
        'an account whose lane an administrator has switched off keeps its socket, and syncs over HTTP',
      ),
    ],
  },
  {
    says: 'An unforeseen failure is one generic text; its cause is in the log alone.',
    provenBy: [
      ['gateway/server.test.ts', 'an unexpected failure is a generic 500 whose cause is in the log alone'],
    ],
  },
  {
    says: 'No log has tokens, cookies, credentials or bodies.',
    provenBy: [
      ['gateway/server.test.ts', 'the access log has the pattern of a route and nothing of what was sent'],
      attack(
        'words-of-users',
        'texts, recipients and credentials of users are in no log, metric or answer to an administrator',
      ),
    ],
  },
  {
    says: 'A key for the whole server may stand before it, and exempts health.',
    provenBy: [
      [
        'gateway/admission/access-key.test.ts',
        'with a key everything but the health paths needs it, and preflights pass',
      ],
    ],
  },
  {
    says: 'Registration is opened and closed by administrators and operators.',
    provenBy: [
      behaviour(
        'accounts/administration',
        'an administrator closes the registration of the whole server and opens it again',
      ),
      behaviour(
        'accounts/administration',
        'a feature that the operator has disabled stays disabled, and the answer says so',
      ),
    ],
  },
];
