/** `export user`: what an operator owes a user by law. */
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withTemporaryFolder } from '../../process/temporary-folder.ts';
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

/** The file has its name once it is whole, so that none is taken for a whole one. A signal leaves nothing either. */
async function exportUser(
  session: CommandSession,
  email: string,
  { workspace = '', out }: ExportOptions,
): Promise<void> {
  const { userUuid } = await session.ask(UsersService.find, { email, workspace });
  const path = out ?? `export-${userUuid}.txt`;
  // Says at once what would otherwise fail after everything is fetched.
  create(path);
  rmSync(path);
  const bytes = await withTemporaryFolder(
    { prefix: '.export-', parent: dirname(path) },
    async (folder, unlessInterrupted) => {
      const partial = join(folder, 'partial');
      const written = await writeExport(partial, (pageToken) =>
        unlessInterrupted(session.ask(UsersService.export, { userUuid, pageToken }, pieceMs)),
      );
      create(path);
      renameSync(partial, path);
      return written;
    },
  );
  session.answer({ userUuid, file: path, bytes }, `${path} holds everything of ${email} (${size(bytes)}).`);
}

interface Piece {
  readonly text: string;
  readonly nextPageToken: string;
}

/** Only the owner of the file may read it. @returns its bytes */
async function writeExport(path: string, pieceAt: (pageToken: string) => Promise<Piece>): Promise<number> {
  const file = openSync(path, 'wx', 0o600);
  try {
    let bytes = 0;
    let pageToken = '';
    do {
      const piece = await pieceAt(pageToken);
      const text = Buffer.from(piece.text);
      // Unlike `writeSync`, it writes all of it or throws, as on a full disk.
      writeFileSync(file, text);
      bytes += text.byteLength;
      pageToken = piece.nextPageToken;
    } while (pageToken !== '');
    return bytes;
  } finally {
    closeSync(file);
  }
}

/** Creates an empty file that only its owner may read, and overwrites none. @throws CommandFailure */
function create(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    throw CommandFailure.usage(`${path} cannot be made: ${(error as Error).message}.`);
  }
}
