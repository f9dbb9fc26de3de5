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

/** Less than the larger one has of contents: to hold them all would end the process. */
const heapMegabytes = 128;

interface Size {
  readonly items: number;
  /** Half the length of each content, which is hexadecimal. */
  readonly randomBytes: number;
}

async function peakKib(
  t: ExecutionContext,
  { items, randomBytes }: Size,
  options: readonly string[],
): Promise<number> {
  const move = await startMove(t);
  const { uuid } = await move.there.user('ada@example.org');
  await move.there.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO items (uuid, user_uuid, content, content_type, deleted, created_at_timestamp, updated_at_timestamp)
     SELECT ? || substr('000000000000' || i, -12), ?, '004:' || hex(randomblob(?)), 'Note', 0, i, i FROM n`,
    [items, randomUUID().slice(0, 24), uuid, randomBytes],
  );
  const source = [
    '--from',
    move.from,
    ...options,
    '--without-key',
    'drop',
    '--report',
    join(move.folder, 'report.json'),
  ];
  return move.whileClosed(async () => {
    const child = spawn(
      process.execPath,
      [
        // On a busy machine the collector falls behind, and the peak then says how far.
        `--max-old-space-size=${heapMegabytes}`,
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
  const few = await peakKib(t, { items: 15_000, randomBytes: 2_000 }, ['--dry-run']);
  const many = await peakKib(t, { items: 60_000, randomBytes: 2_000 }, ['--dry-run']);
  t.log(`${few} KiB for 15,000 items, ${many} KiB for 60,000`);
  t.true(many < few + slackKib, `${few} and ${many} KiB`);
});

test('four times as many items take no more memory while they are written', async (t) => {
  t.timeout(limitMs);
  const few = await peakKib(t, { items: 1_000, randomBytes: 30_000 }, []);
  const many = await peakKib(t, { items: 4_000, randomBytes: 30_000 }, []);
  t.log(`${few} KiB for 1,000 items, ${many} KiB for 4,000`);
  t.true(many < few + slackKib, `${few} and ${many} KiB`);
});
