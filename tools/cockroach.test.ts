import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('..', import.meta.url));

test('without a CockroachDB the command that tries one says what is missing, and fails', (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import=tsx', 'tools/cockroach.ts'], {
    cwd: root,
    env: { PATH: '' },
    encoding: 'utf8',
  });
  t.deepEqual(
    [status, stdout, stderr],
    [2, '', 'CockroachDB is missing: let COCKROACH_PATH name its binary.\n'],
  );
});
