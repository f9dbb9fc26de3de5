/**
 * One PostgreSQL server process (a postmaster) on our cluster.
 *
 * After a kill -9 of this process alone, its postmaster still runs. The next start does not adopt it. It stops it by
 * SIGINT (no client is left to hurt) and starts a new one. That is the same path as after any other crash, and
 * settings and programs are certainly current. It reads `postmaster.pid` and never changes it: only PostgreSQL may
 * decide that it is stale.
 *
 * PostgreSQL may decide so wrongly in one case: another process of the same user got the number in it. Numbers repeat
 * after a restart of a container. PostgreSQL takes the file for stale if the number is that of its own grandparent,
 * which its starter may name. We name the recorded process once we know that it is no postmaster of this cluster.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/ports.ts';
import { programEnvironment, type SystemAccount } from './account.ts';

export interface Postmaster {
  /** Resolves with the last words of the process once it has ended, no matter what ended it. */
  readonly ended: Promise<string>;
  /** Fast shutdown: clients are cut off, what is committed stays. Resolves when the process has ended. */
  stop(): Promise<void>;
}

export interface PostmasterOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly clusterPath: string;
  readonly account: SystemAccount;
  readonly clock: Clock;
  readonly logger: Logger;
}

const readyMessage = 'database system is ready to accept connections';
/** The last processes of its predecessor may need a moment to notice that they are orphans. */
const stillInUse = 'pre-existing shared memory block';
const stillInUseRetryMs = 500;
const stillInUseTries = 20;
/** Replaying the log after a crash may take minutes on a slow disk. */
const readyMs = 300_000;
const leftoverPollMs = 50;
const leftoverMs = 60_000;
const stopMs = 20_000;

/** Stops the leftovers of a crash, starts, and resolves when the server accepts connections. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const recorded = await recordedPid(options.clusterPath);
  if (recorded !== undefined) await stopLeftover(recorded, options);
  for (let tries = 1; ; tries += 1) {
    const started = await tryStart(options, recorded);
    if (typeof started !== 'string') return started;
    if (!started.includes(stillInUse) || tries === stillInUseTries) {
      throw new Error(`PostgreSQL did not start: ${started}`);
    }
    await sleep(options.clock, stillInUseRetryMs);
  }
}

/** The process that `postmaster.pid` names, if there is such a file. */
async function recordedPid(clusterPath: string): Promise<number | undefined> {
  const text = await readFile(join(clusterPath, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return pid > 1 ? pid : undefined;
}

async function stopLeftover(pid: number, { clusterPath, clock, logger }: PostmasterOptions): Promise<void> {
  if (!(await runsOn(pid, clusterPath))) return;
  logger.warn({ pid }, 'stopping the PostgreSQL that an earlier run of this server left behind');
  process.kill(pid, 'SIGINT');
  for (let waitedMs = 0; waitedMs < leftoverMs; waitedMs += leftoverPollMs) {
    await sleep(clock, leftoverPollMs);
    if (!(await runsOn(pid, clusterPath))) return;
  }
  throw new Error(
    `The PostgreSQL of an earlier run (process ${pid}) does not stop. End it, and start again.`,
  );
}

/** Whether that process is a postmaster of this cluster: only a postmaster works in that directory. */
async function runsOn(pid: number, clusterPath: string): Promise<boolean> {
  const path = await realpath(clusterPath);
  if (process.platform === 'linux') {
    // A process that has ended but was not yet reaped has no working directory either.
    return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === path;
  }
  const found = await promisify(execFile)('ps', ['-ww', '-p', String(pid), '-o', 'args='], {
    env: programEnvironment,
  }).catch(() => ({ stdout: '' }));
  return found.stdout.includes(`-D ${clusterPath}`);
}

/** The running postmaster, or its last words if it ended before it was ready. */
async function tryStart(
  { program, args, account, clock, logger }: PostmasterOptions,
  recorded: number | undefined,
): Promise<Postmaster | string> {
  const env = { ...programEnvironment, ...(recorded && { PG_GRANDPARENT_PID: String(recorded) }) };
  const child = account.spawn(program, args, {
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    // In a session of its own. Otherwise a Ctrl-C in the terminal would end it before the server has drained.
    detached: true,
  });
  const ended = lastWords(child);
  const ready = new Promise<undefined>((fulfil) => {
    readLines(child, (line) => {
      relay(line, logger);
      if (line.includes(readyMessage)) fulfil(undefined);
    });
  });
  const postmaster = { ended, stop: () => stop(child, ended, clock) };
  const outcome = await Promise.race([ready, ended, sleep(clock, readyMs).then(() => null)]);
  if (outcome === null) {
    await postmaster.stop();
    return `it was not ready after ${readyMs / 1_000} s`;
  }
  return outcome ?? postmaster;
}

function lastWords(child: ChildProcess): Promise<string> {
  let tail = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-2_000);
  });
  return new Promise((fulfil) => {
    child.once('error', (error) => fulfil(error.message));
    child.once('exit', (code, signal) => fulfil(`${tail.trim()} (${signal ?? `exit code ${code}`})`));
  });
}

function readLines(child: ChildProcess, take: (line: string) => void): void {
  let rest = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

/**
 * Logs only the events in PostgreSQL's life that matter to an operator, and not how it cuts off connections at its
 * end.
 */
function relay(line: string, logger: Logger): void {
  if (line.includes('terminating connection')) return;
  if (/^(FATAL|PANIC|WARNING):/.test(line)) logger.warn({ line }, 'PostgreSQL');
  else if (line.includes('recovery')) logger.info({ line }, 'PostgreSQL');
}

async function stop(child: ChildProcess, ended: Promise<string>, clock: Clock): Promise<void> {
  child.kill('SIGINT');
  const inTime = await Promise.race([ended.then(() => true), sleep(clock, stopMs).then(() => false)]);
  if (inTime) return;
  // Immediate: the next start replays the log of committed transactions.
  child.kill('SIGQUIT');
  await ended;
}
