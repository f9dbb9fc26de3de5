/** `export user`: what an operator owes a user by law. */
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { size } from '../table.ts';
import type { AddCommands } from './command.ts';

/** A piece may be one large item. */
const pieceMs = 60_000;

export const addExportCommands: AddCommands = (program, run) => {
  const group = program
    .command('export')
    .summary('write what an account holds')
    .description('Write what an account holds, as ciphertext.');
  group
    .command('user')
    .argument('<email>', 'the address or name the user signs in with')
    .option('--workspace <name>', 'the workspace, if there are several per address')
    .option('--out <file>', 'the file to write; by default, export-UUID.txt')
    .summary('everything that an account holds, as its client can import it')
    .description(
      'Write everything that an account holds: items, history and the list of its files. It is the file that the ' +
        'client writes when it exports without decrypting. Only the user can read it, with the password.',
    )
    .action((email: string, options: ExportOptions) => run((session) => exportUser(session, email, options)))
    .teach(
      'When a user asks for a copy of the account and cannot sign in to fetch it.',
      'export user alice@example.org --out alice.txt',
    );
};

interface ExportOptions {
  readonly workspace?: string;
  readonly out?: string;
}

async function exportUser(
  session: CommandSession,
  email: string,
  { workspace = '', out }: ExportOptions,
): Promise<void> {
  const { userUuid } = await session.ask(UsersService.find, { email, workspace });
  const path = out ?? `export-${userUuid}.txt`;
  const file = create(path);
  let bytes = 0;
  try {
    let pageToken = '';
    do {
      const piece = await session.ask(UsersService.export, { userUuid, pageToken }, pieceMs);
      const text = Buffer.from(piece.text);
      // Unlike `writeSync`, it writes all of it or throws, as on a full disk.
      writeFileSync(file, text);
      bytes += text.byteLength;
      pageToken = piece.nextPageToken;
    } while (pageToken !== '');
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  session.answer({ userUuid, file: path, bytes }, `${path} holds everything of ${email} (${size(bytes)}).`);
}

/** Creates a file that only its owner may read, and overwrites none. @throws CommandFailure */
function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw CommandFailure.usage(`${path} cannot be made: ${(error as Error).message}.`);
  }
}
