/** `doctor`: it asks no node, and reads the settings that the server would start with. */
import { exitCodes } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import type { AddCommands } from './command.ts';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly found: string;
  readonly remedy?: string;
}

export type Examine = () => Promise<readonly Finding[]>;

export const addDoctorCommand =
  (examine: Examine): AddCommands =>
  (program, run) => {
    program
      .command('doctor')
      .summary('what is wrong around the server, and what to do about it')
      .description(
        'Look at what the server depends on: its settings, file descriptors, disks, the database at DATABASE_URL, ' +
          'NATS, and the way to it from outside at PUBLIC_URL. Nothing is changed. Exit code 1: there is a problem.',
      )
      .action(() => run((session) => doctor(session, examine)))
      .teach(
        'Before the first start, after a change of settings, and whenever something is odd. Run it with the settings of ' +
          'the server, where the server runs.',
        'doctor',
      );
  };

async function doctor(session: CommandSession, examine: Examine): Promise<number> {
  const findings = await examine();
  session.answer({ findings }, () => findings.map(textOf).join('\n'));
  return findings.some(({ state }) => state === 'problem') ? exitCodes.refused : exitCodes.ok;
}

function textOf({ state, check, found, remedy }: Finding): string {
  const line = `${state.padEnd('problem'.length)}  ${check}: ${found}`;
  return remedy === undefined ? line : `${line}\n         ${remedy}`;
}
