/** The commands of `registration`. */
import { RegistrationService } from '../../proto/generated/scriptorium/v1/registration.ts';
import type { CommandSession } from '../session.ts';
import type { AddCommands } from './command.ts';

export const addRegistrationCommands: AddCommands = (program, run) => {
  const registration = program
    .command('registration')
    .summary('whether anybody may register, closing and opening it')
    .description(
      'See whether anybody may register, close the registration of the whole server, and open it again.',
    );
  registration
    .command('show')
    .summary('whether anybody may register')
    .description('Say whether anybody may register, and whether the settings have closed it.')
    .action(() => run(async (session) => show(session, await session.ask(RegistrationService.show, {}))))
    .teach('When somebody cannot register, or too many do.', 'registration show');
  registration
    .command('close')
    .summary('let nobody register')
    .description('Let nobody register, until `registration open`. Accounts that there are stay as they are.')
    .action(() => run(async (session) => show(session, await session.ask(RegistrationService.forbid, {}))))
    .teach(
      'When all who shall have an account have one, or strangers make accounts. It takes effect at once, on every node.',
      'registration close',
    );
  registration
    .command('open')
    .summary('let people register again')
    .description(
      'Let people register again. What the settings have closed (DISABLE_USER_REGISTRATION) stays closed.',
    )
    .action(() => run(async (session) => show(session, await session.ask(RegistrationService.allow, {}))))
    .teach('When others shall be able to make an account.', 'registration open');
};

interface Registration {
  readonly open: boolean;
  readonly closedBySettings: boolean;
}

function show(session: CommandSession, { open, closedBySettings }: Registration): void {
  session.answer({ open, closedBySettings }, textOf(open, closedBySettings));
}

function textOf(open: boolean, closedBySettings: boolean): string {
  if (closedBySettings) return 'The registration is closed by the settings (DISABLE_USER_REGISTRATION).';
  return open ? 'The registration is open.' : 'The registration is closed.';
}
