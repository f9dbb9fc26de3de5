/**
 * The server on Node.js 24 and Debian 13, with their native HTTP package. `npm run test:node24` runs all tests of the
 * gateway and of sockets there, and the attacks. This test shows soonest that they would fail.
 */
import { spawn } from 'node:child_process';
import test from 'ava';
import { findOrMakeDebian, inside, nodeVersion } from '../../tools/debian.ts';

/** The file system is made on first use on a machine. */
const limitMs = 420_000;

async function runInside(
  command: readonly string[],
): Promise<{ readonly code: number | null; readonly said: string }> {
  const { file, args, env } = inside(findOrMakeDebian(process.env), command);
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const code = await new Promise<number | null>((fulfil, reject) => {
    child.once('error', reject);
    child.once('close', fulfil);
  });
  return { code, said };
}

test('a server on Node.js 24 registers, saves, tells other devices of it, and refuses what is smuggled', async (t) => {
  t.timeout(limitMs);
  t.deepEqual(await runInside(['node', '--version']), { code: 0, said: `v${nodeVersion}\n` });
  const tests = ['test/behaviour/operations/smoke-test.test.ts', 'test/attacks/framing.test.ts'];
  const { code, said } = await runInside(['node', 'node_modules/ava/entrypoints/cli.mjs', ...tests]);
  t.is(code, 0, said);
  // None of them was left out.
  t.true(Number(/(\d+) tests passed/.exec(said)?.[1]) >= 10, said);
});
