/** The program: global options, the commands, and the mapping of their outcomes to exit codes. */
import { type Command, CommanderError } from 'commander';
import { addActorCommands } from './commands/actors.ts';
import { addBacklogCommands } from './commands/backlog.ts';
import { addBackupCommands, type Backups } from './commands/backup.ts';
import { addCalendarCommands } from './commands/calendar.ts';
import { millisecondsArgument, type RunWithSession, TeachingCommand } from './commands/command.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addDoctorCommand, type Examine } from './commands/doctor.ts';
import { addExportCommands } from './commands/export.ts';
import { addImportCommands } from './commands/import.ts';
import { addMailCommands } from './commands/mail.ts';
import { addMigrateCommands, type Migrate } from './commands/migrate.ts';
import { addHealthCommands, addNodeCommands, addShardCommands } from './commands/nodes.ts';
import { addPairingCommands } from './commands/pairing.ts';
import { addRegistrationCommands } from './commands/registration.ts';
import { addReshardCommand, type Reshard } from './commands/reshard.ts';
import { addSmokeTestCommand } from './commands/smoke-test.ts';
import { addTopCommand } from './commands/top.ts';
import { addUserCommands } from './commands/users.ts';
import { ApiConnection } from './connection.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { CommandSession, type Terminal } from './session.ts';
import { columnsMax, plain } from './table.ts';

/** Values from the environment if no option is given. */
export interface Defaults {
  readonly address: string;
  /** The file that holds the token. */
  readonly token: string | undefined;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** The commands that work without a node. */
export interface CommandTools {
  readonly migrate: Migrate;
  readonly reshard: Reshard;
  readonly backups: Backups;
  /** The release of this command line. */
  readonly version: string;
  readonly examine: Examine;
}

interface GlobalOptions extends Defaults {
  readonly serverName?: string;
  readonly deadlineMs: number;
  readonly json?: boolean;
}

const deadlineDefaultMs = 10_000;

const exitCodeHelp = `
Exit codes: 0 done; 1 the cluster refuses, or there is no such thing; 64 the command line is wrong;
65 done but for what is named; 69 the node or the cluster cannot answer now.

Start with \`scriptorium nodes\`. \`scriptorium help <command>\` explains when to use a command, with examples.
`;

/** Runs one command line. Resolves to its exit code. */
export async function runCommandLine(
  args: readonly string[],
  defaults: Defaults,
  terminal: Terminal,
  tools: CommandTools,
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = createProgram(defaults, terminal, tools, async (work) => {
    const { json = false, ...options } = program.opts<GlobalOptions>();
    const connection = new ApiConnection({ ...options, nowMs: terminal.nowMs });
    try {
      const ended = await work(new CommandSession(connection, terminal, json, options.deadlineMs));
      if (typeof ended === 'number') exitCode = ended;
    } finally {
      connection.close();
    }
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (!(error instanceof CommandFailure)) throw error;
    terminal.err(`${error.message.split('\n').map(plain).join('\n')}\n`);
    return error.exitCode;
  }
}

function createProgram(
  defaults: Defaults,
  terminal: Terminal,
  tools: CommandTools,
  run: RunWithSession,
): Command {
  const program = new TeachingCommand('scriptorium')
    .description('Operate a Scriptorium server: one process or a cluster of many nodes.')
    .option('--address <where>', 'the internal API of any node: host:port, or unix:file', defaults.address)
    .option('--token <file>', 'the file with the token for a port without mutual TLS', defaults.token)
    .option('--ca <file>', 'CA certificates (PEM) to verify the node with; turns on TLS', defaults.ca)
    .option('--cert <file>', 'the certificate (PEM) to show to the node; turns on TLS', defaults.cert)
    .option('--key <file>', 'its private key (PEM)', defaults.key)
    .option('--server-name <name>', 'the name in the certificate of the node, if it is not the address')
    .option('--deadline-ms <ms>', 'how long to wait for each answer', millisecondsArgument, deadlineDefaultMs)
    .option('--json', 'one JSON document for scripts instead of text for people')
    .version(tools.version)
    .addHelpText('after', exitCodeHelp)
    .configureHelp({ helpWidth: columnsMax, showGlobalOptions: true })
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .exitOverride();
  for (const add of [
    addNodeCommands,
    addShardCommands,
    addMigrateCommands(tools.migrate),
    addReshardCommand(tools.reshard),
    addBackupCommands(tools.backups),
    addActorCommands,
    addTopCommand,
    addBacklogCommands,
    addUserCommands,
    addRegistrationCommands,
    addCalendarCommands,
    addMailCommands,
    addPairingCommands,
    addHealthCommands,
    addDoctorCommand(tools.examine),
    addSmokeTestCommand,
    addImportCommands,
    addExportCommands,
    addCompletionCommand,
  ]) {
    add(program, run);
  }
  return program;
}
