/** The commands of `user`. */
import {
  type ListedUser,
  type UserFactors,
  UsersService,
  type UsersShowResponse,
} from '../../proto/generated/scriptorium/v1/users.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { counted, formatTable, isoOf, record, size, timestamp } from '../table.ts';
import { type AddCommands, parseWholeNumber } from './command.ts';

export const uuidHelp = 'the uuid of the user, as `user find` gives it';
const example = '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11';

export const addUserCommands: AddCommands = (program, run) => {
  const user = program
    .command('user')
    .alias('users')
    .summary('find and show users, end their sessions, ban them, make administrators, set flags')
    .description(
      'Find users, look at them, end their sessions, ban them, set their flags, and say who is an administrator. Notes are ciphertext and stay unseen.',
    );
  user
    .command('find')
    .argument('<email>', 'the address or name the user signs in with')
    .summary('find the uuid of the user with an address')
    .description('Find the uuid of the user with an address. Other commands take the uuid.')
    .option('--workspace <name>', 'the workspace, if there are several per address')
    .action((email, { workspace = '' }) =>
      run(async (session) => {
        const { userUuid } = await session.ask(UsersService.find, { email, workspace });
        session.answer({ userUuid }, userUuid);
      }),
    )
    .teach(
      'First, when someone reports that something is wrong with an account.',
      'user find alice@example.org',
      'user show "$(scriptorium user find alice@example.org)"',
    );
  user
    .command('list')
    .summary('the users of the server, or those whose address contains something')
    .description('List users by workspace and address.')
    .option('--contains <text>', 'only users whose address contains this', '')
    .option('--limit <number>', 'how many at most', (text) => parseWholeNumber(text, 1, listMax), listDefault)
    .option('--after <token>', 'go on where a list ended', '')
    .action((options) => run((session) => list(session, options)))
    .teach(
      'To see who is there, and to find an account of which you know only a part of the address.',
      'users list',
      'users list --contains @example.org --json',
    );
  user
    .command('show')
    .argument('<uuid>', uuidHelp)
    .summary('an account, its sessions, second factors, quota and size')
    .description(
      'Show an account: its address, age, sessions, last use, second factors, roles, and how much it stores of its quota.',
    )
    .action((uuid) => run((session) => show(session, uuid)))
    .teach(
      'To check what an owner says about an account, and to see how much it stores.',
      `user show ${example}`,
    );
  user
    .command('sign-out')
    .argument('<uuid>', uuidHelp)
    .summary('end all sessions of a user')
    .description('End all sessions of a user. Devices keep their notes and ask for the password again.')
    .option('--yes', 'do it')
    .action((uuid, { yes = false }) => run((session) => signOut(session, uuid, yes)))
    .teach(
      'When a device or a token of the user is in the wrong hands. The user should change the password, too: ' +
        'anyone who knows it can sign in again.',
      `user sign-out ${example} --yes`,
    );
  user
    .command('reset-factor')
    .argument('<uuid>', uuidHelp)
    .summary('turn the second factors of a user off')
    .description(
      'Turn every second factor of a user off: the authenticator app, security keys and codes by e-mail. Recovery codes and ' +
        'trusted devices go with them. The password stays, and so do app passwords, because programs still use them: the user ' +
        'deletes those that a lost device had. The user is told by mail.',
    )
    .option('--yes', 'do it')
    .action((uuid, { yes = false }) => run((session) => resetFactors(session, uuid, yes)))
    .teach(
      'When a user has lost the second factor and the recovery codes. Make sure first that it is the user who asks: from then on ' +
        'the password alone signs in.',
      `user reset-factor ${example} --yes`,
    );
  user
    .command('promote')
    .argument('<uuid>', uuidHelp)
    .summary('make a user an administrator')
    .description('Make a user an administrator, until `user demote`.')
    .action((uuid) => run((session) => promote(session, uuid)))
    .teach(
      'When somebody shall administer the server in a client. Rather than by ADMIN_EMAILS: an address can be ' +
        'registered by the first who tries.',
      `user promote ${example}`,
    );
  user
    .command('demote')
    .argument('<uuid>', uuidHelp)
    .summary('make an administrator a user like any other')
    .description('Make an administrator a user like any other, even one listed in ADMIN_EMAILS.')
    .action((uuid) => run((session) => demote(session, uuid)))
    .teach('When somebody shall administer no longer, or never should have.', `user demote ${example}`);
  user
    .command('ban')
    .argument('<uuid>', uuidHelp)
    .summary('end all sessions of a user and let none begin')
    .description(
      'Ban a user, until `user unban`: all sessions end, open sockets are closed, no password, token or factor opens another.',
    )
    .option('--reason <text>', 'for other operators and administrators; the user is not shown it', '')
    .option('--yes', 'do it')
    .action((uuid, { reason, yes = false }) => run((session) => ban(session, uuid, reason, yes)))
    .teach(
      'When an account does harm. Its data stays, and its owner keeps what the devices have. An administrator has to be demoted ' +
        'first.',
      `user ban ${example} --reason "sends spam" --yes`,
    );
  user
    .command('unban')
    .argument('<uuid>', uuidHelp)
    .summary('let a banned user sign in again')
    .description('End the ban of a user. No session comes back: every device asks for the password.')
    .action((uuid) => run((session) => unban(session, uuid)))
    .teach('When the reason for the ban is gone.', `user unban ${example}`);
  user
    .command('flags')
    .argument('<uuid>', uuidHelp)
    .summary('what is set for a user')
    .description(
      'Show the flags of a user: what administrators and operators may set. All there are are listed.',
    )
    .action((uuid) => run((session) => flags(session, uuid)))
    .teach('To see what a user may do, and which flags there are.', `user flags ${example}`);
  user
    .command('set-flag')
    .argument('<uuid>', uuidHelp)
    .argument('<name>', 'a flag, as `user flags` lists it')
    .argument('<value>', 'what it is to be')
    .summary('set a flag of a user')
    .description('Set a flag of a user. A value that the flag cannot have is refused.')
    .action((uuid, name, value) => run((session) => setFlag(session, uuid, name, value)))
    .teach(
      'When a user shall use the assistant less or not at all, or shall have what others have not.',
      `user set-flag ${example} AI_ENABLED false`,
      `user set-flag ${example} AI_REQUEST_LIMIT 50`,
    );
  user
    .command('remove-flag')
    .argument('<uuid>', uuidHelp)
    .argument('<name>', 'a flag, as `user flags` lists it')
    .summary('have a flag of a user be as if it was never set')
    .description('Remove a flag of a user: what the server does for everybody is done for the user, too.')
    .action((uuid, name) => run((session) => setFlag(session, uuid, name, undefined)))
    .teach('When a user shall be treated like all others again.', `user remove-flag ${example} AI_ENABLED`);
  user
    .command('audit')
    .argument('<uuid>', uuidHelp)
    .summary('what happened to an account')
    .description(
      'Show the audit trail of an account, the newest event first: sign-ins, devices, factors, tokens, what operators did.',
    )
    .option('--before <number>', 'only events before this one', '')
    .action((uuid, { before }) => run((session) => audit(session, uuid, before)))
    .teach(
      'When a user says that somebody else was in the account. The user can read the same.',
      `user audit ${example}`,
    );
};

const listDefault = 100;
const listMax = 1_000_000;

interface ListUsersOptions {
  readonly contains: string;
  readonly limit: number;
  readonly after: string;
}

async function list(session: CommandSession, { contains, limit, after }: ListUsersOptions): Promise<void> {
  const users: ListedUser[] = [];
  let pageToken = after;
  do {
    const pageSize = limit - users.length;
    const page = await session.ask(UsersService.list, { contains, pageSize, pageToken });
    users.push(...page.users);
    pageToken = page.nextPageToken;
  } while (pageToken !== '' && users.length < limit);
  session.answer({ users, after: pageToken === '' ? null : pageToken }, () => {
    const rows = users.map(({ userUuid, email, workspace }) => [userUuid, email, workspace]);
    const more = pageToken === '' ? [] : [`More: --after '${pageToken}'`];
    return [
      rows.length === 0 ? 'There is none.' : formatTable(['UUID', 'E-MAIL', 'WORKSPACE'], rows),
      ...more,
    ].join('\n');
  });
}

async function promote(session: CommandSession, userUuid: string): Promise<void> {
  const { changed } = await session.ask(UsersService.promote, { userUuid });
  session.answer(
    { userUuid, changed },
    changed ? 'The user is an administrator now.' : 'The user was already an administrator.',
  );
}

async function demote(session: CommandSession, userUuid: string): Promise<void> {
  const { changed } = await session.ask(UsersService.demote, { userUuid });
  session.answer(
    { userUuid, changed },
    changed ? 'The user is no longer an administrator.' : 'The user was not an administrator.',
  );
}

async function ban(session: CommandSession, userUuid: string, reason: string, yes: boolean): Promise<void> {
  if (!yes) {
    const { sessions } = await session.ask(UsersService.show, { userUuid });
    throw CommandFailure.refused(
      `This would end ${counted(sessions, 'session')} of the user and let none begin. Use --yes to do it.`,
    );
  }
  const { changed } = await session.ask(UsersService.ban, { userUuid, reason });
  session.answer({ userUuid, changed }, changed ? 'The user is banned.' : 'The user was already banned.');
}

async function unban(session: CommandSession, userUuid: string): Promise<void> {
  const { changed } = await session.ask(UsersService.unban, { userUuid });
  session.answer({ userUuid, changed }, changed ? 'The user may sign in again.' : 'The user was not banned.');
}

async function flags(session: CommandSession, userUuid: string): Promise<void> {
  const { flags, nextcloudAppPasswordConfigured } = await session.ask(UsersService.showFlags, { userUuid });
  const values = Object.fromEntries(flags.map(({ name, value = null }) => [name, value]));
  session.answer({ userUuid, flags: values, nextcloudAppPasswordConfigured }, () =>
    record([
      ...flags.map(({ name, value = '-' }) => [name, value] as const),
      ['Nextcloud password', nextcloudAppPasswordConfigured ? 'set' : '-'],
    ]),
  );
}

async function setFlag(
  session: CommandSession,
  userUuid: string,
  flagName: string,
  value: string | undefined,
) {
  const { flag } = await session.ask(UsersService.setFlag, { userUuid, name: flagName, value });
  const name = flag?.name ?? flagName;
  session.answer(
    { userUuid, name, value: value ?? null },
    value === undefined ? `${name} is removed.` : `${name} is set.`,
  );
}

async function audit(session: CommandSession, userUuid: string, pageToken: string): Promise<void> {
  const request = { userUuid, pageSize: 0, pageToken };
  const { events, nextPageToken } = await session.ask(UsersService.listAuditEvents, request);
  const eventRecords = events.map(({ first, last, ...event }) => ({
    ...event,
    first: isoOf(first),
    last: isoOf(last),
  }));
  session.answer(
    { userUuid, events: eventRecords, before: nextPageToken === '' ? null : nextPageToken },
    () => {
      const titles = ['NUMBER', 'LAST', 'EVENT', 'TIMES', 'FROM', 'DEVICE'];
      const rows = events.map(({ number, last, event, times, ipAddress, device }) => {
        return [number, timestamp(last), event, times, ipAddress, device];
      });
      const more = nextPageToken === '' ? [] : [`Older ones: --before ${nextPageToken}`];
      return [formatTable(titles, rows), ...more].join('\n');
    },
  );
}

async function show(session: CommandSession, userUuid: string): Promise<void> {
  const found = await session.ask(UsersService.show, { userUuid });
  const state = found.state.replace('USER_STATE_', '');
  const times = {
    created: isoOf(found.created),
    bannedSince: isoOf(found.bannedSince),
    lastUsed: isoOf(found.lastUsed),
  };
  session.answer({ ...found, state, ...times }, () =>
    record([
      ['user', found.userUuid],
      ['state', state.toLowerCase()],
      ['e-mail', found.email],
      ['workspace', found.workspace],
      ['created', timestamp(found.created)],
      ['protocol', found.protocolVersion],
      ['sessions', found.sessions],
      ['last use', timestamp(found.lastUsed) || '-'],
      ['second factor', found.factors === undefined ? '-' : factorsText(found.factors)],
      ['items', `${found.items} (${size(found.itemBytes)})`],
      ['files', quotaOf(found)],
      ['roles', found.roles.join(', ')],
      ['access', accessOf(found)],
      ...(found.banned ? banOf(found) : []),
    ]),
  );
}

const quotaOf = ({ fileBytes, fileBytesMax }: UsersShowResponse): string => {
  if (fileBytes === undefined) return '-';
  return `${size(fileBytes)} of ${fileBytesMax === undefined ? 'no limit' : size(fileBytesMax)}`;
};

function factorsText({ authenticatorApp, securityKeys, emailedCodes }: UserFactors): string {
  const on = [
    ...(authenticatorApp ? ['authenticator app'] : []),
    ...(securityKeys > 0 ? [counted(securityKeys, 'security key')] : []),
    ...(emailedCodes ? ['codes by e-mail'] : []),
  ];
  return on.length === 0 ? 'none' : on.join(', ');
}

const banOf = ({ bannedSince, banReason }: UsersShowResponse): readonly (readonly [string, string])[] => [
  ['banned since', timestamp(bannedSince)],
  ['reason', banReason || '-'],
];

const accessOf = ({ banned, readOnly }: { readonly banned: boolean; readonly readOnly: boolean }): string => {
  if (banned) return 'none: banned';
  return readOnly ? 'read only' : 'full';
};

async function resetFactors(session: CommandSession, userUuid: string, yes: boolean): Promise<void> {
  if (!yes) {
    const { factors } = await session.ask(UsersService.show, { userUuid });
    const on = factors === undefined ? 'every second factor' : factorsText(factors);
    const what = on === 'none' ? 'nothing, as no second factor is on' : on;
    throw CommandFailure.refused(`This would turn off: ${what}. Use --yes to do it.`);
  }
  const { factors = noFactors } = await session.ask(UsersService.resetFactors, { userUuid });
  session.answer({ userUuid, turnedOff: factors }, `Turned off: ${factorsText(factors)}.`);
}

const noFactors: UserFactors = { authenticatorApp: false, securityKeys: 0, emailedCodes: false };

async function signOut(session: CommandSession, userUuid: string, yes: boolean): Promise<void> {
  if (!yes) {
    const { sessions } = await session.ask(UsersService.show, { userUuid });
    throw CommandFailure.refused(
      `This would end ${counted(sessions, 'session')} of the user, on every device. Use --yes to do it.`,
    );
  }
  const { endedSessions } = await session.ask(UsersService.signOut, { userUuid });
  session.answer({ userUuid, endedSessions }, `${counted(endedSessions, 'session')} ended.`);
}
