import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { TeachingCommand } from './command.ts';
import { addExportCommands } from './export.ts';

const userUuid = crypto.randomUUID();

/** Runs the command against a node that answers `piece`. */
function exportUser(out: string, piece: () => { readonly text: string; readonly nextPageToken: string }) {
  const session = {
    ask: async (method: unknown) => (method === UsersService.find ? { userUuid } : piece()),
  };
  const program = new TeachingCommand().exitOverride();
  addExportCommands(program, async (work) => void (await work(session as unknown as CommandSession)));
  return program.parseAsync(['export', 'user', 'ada@example.org', '--out', out], { from: 'user' });
}

test('an export that breaks off leaves no file, which might be taken for a whole one', async (t) => {
  const folder = temporaryFolder(t);
  const out = join(folder, 'ada.txt');
  let pieces = 0;
  const exporting = exportUser(out, () => {
    pieces += 1;
    if (pieces === 1) return { text: 'the first piece', nextPageToken: 'more' };
    // Even if the process were killed now, no file would have the name.
    t.false(existsSync(out));
    throw CommandFailure.unavailable('The node is away.');
  });
  await t.throwsAsync(exporting, { instanceOf: CommandFailure });
  t.is(pieces, 2);
  t.deepEqual(readdirSync(folder), []);
});

test('an export into a folder that does not exist is refused before anything is fetched', async (t) => {
  const out = join(temporaryFolder(t), 'missing', 'ada.txt');
  const exporting = exportUser(out, () => t.fail() as never);
  await t.throwsAsync(exporting, { instanceOf: CommandFailure, message: /ada\.txt cannot be made: ENOENT/ });
});

test('an export does not overwrite a file that was made while it was fetched', async (t) => {
  const folder = temporaryFolder(t);
  const out = join(folder, 'ada.txt');
  const exporting = exportUser(out, () => {
    writeFileSync(out, 'of somebody else');
    return { text: 'everything', nextPageToken: '' };
  });
  await t.throwsAsync(exporting, { instanceOf: CommandFailure, message: /cannot be made: EEXIST/ });
  t.deepEqual(readdirSync(folder), ['ada.txt']);
  t.is(readFileSync(out, 'utf8'), 'of somebody else');
});
