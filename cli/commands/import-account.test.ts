import test from 'ava';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';
import { TeachingCommand } from './command.ts';
import { addImportAccount } from './import-account.ts';

test('without a password `import account` asks no server for anything', async (t) => {
  const session = { terminal: { askSecret: async () => '' } };
  const program = new TeachingCommand().exitOverride();
  addImportAccount(program, async (work) => void (await work(session as unknown as CommandSession)));
  const args = ['account', '--from', 'http://127.0.0.1:1', '--email', 'ada@example.org'];
  const refused = await t.throwsAsync(program.parseAsync(args, { from: 'user' }), {
    instanceOf: CommandFailure,
  });
  t.is(refused?.message, 'No password was given.');
});
