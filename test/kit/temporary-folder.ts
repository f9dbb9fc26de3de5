import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** An empty folder that is removed with everything in it when the test ends. */
export function temporaryFolder(t: Pick<ExecutionContext, 'teardown'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
