/** An import takes no more memory for many items than for few: what is read is in memory a group at a time. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runs } from '../kit/built.ts';
import { passMs, startMove } from './moving.ts';

const limitMs = 240_000;
/** The most that the process has held, in kibibytes, as its last line. */
const tellPeak = "data:text/javascript,process.on('exit',()=>console.error(process.resourceUsage().maxRSS))";

/** What a heap may grow by before it is collected, and far less than what the larger one has more of contents: 180 MB. */
const slackKib = 110 * 1_024;

async function peakKib(t: ExecutionContext, items: number): Promise<number> {
  const move = await startMove(t);
  const { uuid } = await move.there.user('ada@example.org');
  await move.there.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO items (uuid, user_uuid, content, content_type, deleted, created_at_timestamp, updated_at_timestamp)
     SELECT ? || substr('000000000000' || i, -12), ?, '004:' || hex(randomblob(2000)), 'Note', 0, i, i FROM n`,
    [items, randomUUID().slice(0, 24), uuid],
  );
  const source = ['--from', move.from, '--dry-run', '--report', join(move.folder, 'report.json')];
  return move.whileClosed(async () => {
    const child = spawn(
      process.execPath,
      [
        '--import',
        tellPeak,
        ...runs('cli/main.ts'),
        '--address',
        move.world.address,
        'import',
        'server',
        ...source,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    const code = new Promise<number | null>((resolve) => child.once('close', resolve));
    t.is(await move.world.server.answered(code, passMs), 0, said);
    return Number(said.trim().split('\n').at(-1));
  });
}

test('four times as many items take no more memory', async (t) => {
  t.timeout(limitMs);
  const few = await peakKib(t, 15_000);
  const many = await peakKib(t, 60_000);
  t.log(`${few} KiB for 15,000 items, ${many} KiB for 60,000`);
  t.true(many < few + slackKib, `${few} and ${many} KiB`);
});
