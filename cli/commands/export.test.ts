import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { TeachingCommand } from './command.ts';
import { addExportCommands } from './export.ts';

test('an export that breaks off leaves no file, which might be taken for a whole one', async (t) => {
  let pieces = 0;
  const session = {
    async ask(method: unknown) {
      if (method === UsersService.find) return { userUuid: crypto.randomUUID() };
      pieces += 1;
      if (pieces > 1) throw CommandFailure.unavailable('The node is away.');
      return { text: 'the first piece', nextPageToken: 'more' };
    },
  };
  const out = join(temporaryFolder(t), 'ada.txt');
  const program = new TeachingCommand().exitOverride();
  addExportCommands(program, async (work) => void (await work(session as unknown as CommandSession)));
  const exporting = program.parseAsync(['export', 'user', 'ada@example.org', '--out', out], { from: 'user' });
  await t.throwsAsync(exporting, { instanceOf: CommandFailure });
  t.is(pieces, 2);
  t.false(existsSync(out));
});
