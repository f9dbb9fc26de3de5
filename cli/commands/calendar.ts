/** The commands of `calendar`. */
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { counted } from '../table.ts';
import type { AddCommands } from './command.ts';
import { uuidHelp } from './users.ts';

export const addCalendarCommands: AddCommands = (program, run) => {
  const calendar = program
    .command('calendar')
    .summary('keep calendar programs from reading the to-dos of a user')
    .description('Keep calendar programs from reading the to-dos that a user has published.');
  calendar
    .command('revoke')
    .argument('<uuid>', uuidHelp)
    .summary('revoke all calendar tokens of a user')
    .description(
      'Revoke all calendar tokens of a user. From then on programs with one are refused; published to-dos stay.',
    )
    .option('--yes', 'do it')
    .action((uuid, { yes = false }) => run((session) => revoke(session, uuid, yes)))
    .teach(
      'When a token is in the wrong hands and its user cannot revoke it in the app. The user can make new ones.',
      'calendar revoke 5c1b6f5e-6f0b-4f6e-9a52-0f0c4f1d9c11 --yes',
    );
};

async function revoke(session: CommandSession, userUuid: string, yes: boolean): Promise<void> {
  if (!yes) {
    throw CommandFailure.refused(
      'Every calendar program of the user would need a new token. Use --yes to do it.',
    );
  }
  const { revokedTokens } = await session.ask(UsersService.revokeCalendarTokens, { userUuid });
  session.answer({ userUuid, revokedTokens }, `${counted(revokedTokens, 'calendar token')} revoked.`);
}
