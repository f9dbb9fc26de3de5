import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { builtUrl } from '../../test/kit/built.ts';
import { temporaryFolder } from '../../test/kit/temporary-folder.ts';

interface Supervised {
  readonly supervisor: ChildProcess;
  /** The server's pid. */
  readonly pid: number;
  /** Resolves to the next line that either process writes. */
  line(): Promise<string>;
  readonly exitCode: Promise<number | null>;
}

const runner = (entry: string) => `
  const { runServer } = await import(${JSON.stringify(builtUrl('process/supervisor/child.ts'))});
  const code = await runServer(${JSON.stringify(entry)});
  console.log('dead ' + code);
  process.exit(code);
`;

/** A supervisor whose server runs this code once it has reported its pid. */
async function supervised(t: ExecutionContext, server: string): Promise<Supervised> {
  const folder = temporaryFolder(t);
  const entry = join(folder, 'server.mjs');
  writeFileSync(entry, `${server}\nsetInterval(() => {}, 1_000);\nconsole.log(String(process.pid));`);
  const runs = join(folder, 'supervisor.mjs');
  writeFileSync(runs, runner(entry));
  const supervisor = spawn(process.execPath, [runs], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  t.teardown(() => endGroup(supervisor));
  const lines = createInterface({ input: supervisor.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => (await lines.next()).value;
  const exitCode = once(supervisor, 'exit').then(([code]) => code as number | null);
  return { supervisor, pid: Number(await line()), line, exitCode };
}

/** Ends it with the server, if that is still there. */
function endGroup({ pid = 0 }: ChildProcess): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Both have ended.
  }
}

const stateOf = (pid: number): string | undefined =>
  /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

test('a server that is killed is known dead, and its supervisor ends as a shell would say', async (t) => {
  const { pid, line, exitCode } = await supervised(t, '');
  process.kill(pid, 'SIGKILL');
  t.is(await line(), 'dead 137');
  t.is(await exitCode, 137);
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} goes to the server, which ends by its own code`, async (t) => {
    const { supervisor, line, exitCode } = await supervised(
      t,
      `process.on('${signal}', () => process.exit(78));`,
    );
    supervisor.kill(signal);
    t.is(await line(), 'dead 78');
    t.is(await exitCode, 78);
  });
}

test('a server that is stopped is not taken for dead, however long it says nothing', async (t) => {
  const { supervisor, pid, line } = await supervised(t, `process.on('SIGTERM', () => process.exit(0));`);
  process.kill(pid, 'SIGSTOP');
  while (stateOf(pid) !== 'T') await new Promise((resolve) => setImmediate(resolve));
  // The supervisor has seen the stop and forwards it, and the system keeps it for the stopped server.
  supervisor.kill('SIGTERM');
  process.kill(pid, 'SIGCONT');
  t.is(await line(), 'dead 0');
});

test('a server learns that its supervisor has been killed', async (t) => {
  const { supervisor, line } = await supervised(
    t,
    `process.once('disconnect', () => { console.log('alone'); process.exit(0); });`,
  );
  supervisor.kill('SIGKILL');
  t.is(await line(), 'alone');
});
