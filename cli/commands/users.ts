/** `user find`, `user show`, `user sign-out`, `user promote` and `user demote`. */
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { exitCodes, Failure } from '../failure.ts';
import type { Session } from '../session.ts';
import { counted, moment, record, size } from '../table.ts';
import { type AddCommands, teach } from './command.ts';

const uuidHelp = 'the uuid of the user, as `user find` gives it';
const example = '5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11';

export const addUserCommands: AddCommands = (program, run) => {
  const user = program
    .command('user')
    .summary('find and show users, end their sessions, make administrators')
    .description(
      'Find users, look at them, end their sessions, and say who is an administrator. Notes are ciphertext and stay unseen.',
    );
  teach(
    user
      .command('find')
      .argument('<email>', 'the address or name the user signs in with')
      .summary('find the uuid of the user with an address')
      .description('Find the uuid of the user with an address. Other commands take the uuid.')
      .option('--workspace <name>', 'the workspace, where there are several per address')
      .action((email, { workspace = '' }) =>
        run(async (session) => {
          const { userUuid } = await session.ask(UsersService.find, { email, workspace });
          session.answer({ userUuid }, userUuid);
        }),
      ),
    'First, when someone reports that something is wrong with an account.',
    'user find alice@example.org',
    'user show "$(scriptorium user find alice@example.org)"',
  );
  teach(
    user
      .command('show')
      .argument('<uuid>', uuidHelp)
      .summary('an account, its sessions and its size')
      .description('Show an account: its address, age, sessions, roles, and how much it stores.')
      .action((uuid) => run((session) => show(session, uuid))),
    'To check what an owner says about an account, and to see how much it stores.',
    `user show ${example}`,
  );
  teach(
    user
      .command('sign-out')
      .argument('<uuid>', uuidHelp)
      .summary('end all sessions of a user')
      .description('End all sessions of a user. Devices keep their notes and ask for the password again.')
      .option('--yes', 'do it')
      .action((uuid, { yes = false }) => run((session) => signOut(session, uuid, yes))),
    'When a device or a token of the user is in the wrong hands. The user should change the password, too: ' +
      'anyone who knows it can sign in again.',
    `user sign-out ${example} --yes`,
  );
  teach(
    user
      .command('promote')
      .argument('<uuid>', uuidHelp)
      .summary('make a user an administrator')
      .description('Make a user an administrator, until `user demote`.')
      .action((uuid) => run((session) => promote(session, uuid))),
    'When somebody shall administer the server in a client. Rather than by ADMIN_EMAILS: an address can be ' +
      'registered by whoever is first.',
    `user promote ${example}`,
  );
  teach(
    user
      .command('demote')
      .argument('<uuid>', uuidHelp)
      .summary('make an administrator a user like any other')
      .description('Make an administrator a user like any other, even one listed in ADMIN_EMAILS.')
      .action((uuid) => run((session) => demote(session, uuid))),
    'When somebody shall administer no longer, or never should have.',
    `user demote ${example}`,
  );
};

async function promote(session: Session, userUuid: string): Promise<void> {
  const { changed } = await session.ask(UsersService.promote, { userUuid });
  session.answer(
    { userUuid, changed },
    changed ? 'The user is an administrator now.' : 'The user was already an administrator.',
  );
}

async function demote(session: Session, userUuid: string): Promise<void> {
  const { changed } = await session.ask(UsersService.demote, { userUuid });
  session.answer(
    { userUuid, changed },
    changed ? 'The user is no longer an administrator.' : 'The user was not an administrator.',
  );
}

async function show(session: Session, userUuid: string): Promise<void> {
  const found = await session.ask(UsersService.show, { userUuid });
  const state = found.state.replace('USER_STATE_', '');
  session.answer({ ...found, state, created: found.created?.toISOString() ?? null }, () =>
    record([
      ['user', found.userUuid],
      ['state', state.toLowerCase()],
      ['e-mail', found.email],
      ['workspace', found.workspace],
      ['created', moment(found.created)],
      ['protocol', found.protocolVersion],
      ['sessions', found.sessions],
      ['items', `${found.items} (${size(found.itemBytes)})`],
      ['roles', found.roles.join(', ')],
      ['access', found.readOnly ? 'read only' : 'full'],
    ]),
  );
}

async function signOut(session: Session, userUuid: string, yes: boolean): Promise<void> {
  if (!yes) {
    const { sessions } = await session.ask(UsersService.show, { userUuid });
    throw new Failure(
      exitCodes.refused,
      `This would end ${counted(sessions, 'session')} of the user, on every device. Use --yes to do it.`,
    );
  }
  const { endedSessions } = await session.ask(UsersService.signOut, { userUuid });
  session.answer({ userUuid, endedSessions }, `${counted(endedSessions, 'session')} ended.`);
}
