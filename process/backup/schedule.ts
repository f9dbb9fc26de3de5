/**
 * Backups of a single process by the clock (BACKUP_SCHEDULE). `scriptorium backup` runs as a child. So zipping and encrypting
 * delay no request, and a backup that crashes does not take the server with it.
 *
 *     waiting    until the next time of the day
 *     running    one child; it ends with the server, which loses no more than a crash does
 *     ended      the time of a success is kept in the data directory, and shown as a metric
 *
 * A time that was missed while the server was down is made up for a minute after the start. A backup that failed is tried again
 * every hour until the next time of the day. One that lacks lost files is whole otherwise, and takes the place of an older one. So
 * it counts as failed, and is not tried again before its time: the files stay lost, and one each hour would use up all older ones.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/ports.ts';
import type { DataDirectory } from '../data-directory.ts';

const recordName = 'last-backup';
const dayMs = 86_400_000;
const minuteMs = 60_000;
const afterStartMs = minuteMs;
const retryMs = 60 * minuteMs;
const outputBytesMax = 2_000;
/** A backup was made, without files that their store has lost (`cli/failure.ts`). */
const incompleteCode = 65;

/** Resolves to the exit code and the last words of a backup. */
export type RunBackup = (
  signal: AbortSignal,
) => Promise<{ readonly code: number | null; readonly said: string }>;

export interface BackupScheduleOptions {
  /** Minutes since midnight in UTC, in their order. */
  readonly times: readonly number[];
  readonly directory: Pick<DataDirectory, 'find' | 'replace'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly run: RunBackup;
}

export interface BackupSchedule {
  /** Ends a backup that runs. */
  stop(): Promise<void>;
}

export function backupMetrics(registry: Registry) {
  const registers = [registry];
  const lastSuccess = new Gauge({
    name: 'scriptorium_backup_last_success_timestamp_seconds',
    help: 'When the last backup by BACKUP_SCHEDULE succeeded; before the first one, when the schedule began.',
    registers,
  });
  const runs = new Counter({
    name: 'scriptorium_backups_total',
    help: 'Backups by BACKUP_SCHEDULE, by outcome: done or failed.',
    labelNames: ['outcome'],
    registers,
  });
  return { lastSuccess, runs };
}

export async function startBackupSchedule(options: BackupScheduleOptions): Promise<BackupSchedule> {
  const schedule = new DailyBackups(options);
  await schedule.start();
  return schedule;
}

class DailyBackups implements BackupSchedule {
  readonly #options: BackupScheduleOptions;
  readonly #ending = new AbortController();
  readonly #lastSuccess: Gauge;
  readonly #runs: Counter<'outcome'>;
  #cancel: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: BackupScheduleOptions) {
    this.#options = options;
    const { lastSuccess, runs } = backupMetrics(options.registry);
    this.#lastSuccess = lastSuccess;
    this.#runs = runs;
  }

  async start(): Promise<void> {
    const { clock, directory, times } = this.#options;
    const storedMs = Number(await directory.find(recordName));
    const nowMs = clock.nowMs();
    const isFirst = !(storedMs > 0);
    this.#lastSuccess.set((isFirst ? nowMs : storedMs) / 1_000);
    if (isFirst) await directory.replace(recordName, String(nowMs));
    const isMissed = !isFirst && storedMs < lastTimeBefore(nowMs, times);
    this.#wait(isMissed ? afterStartMs : nextTimeAfter(nowMs, times) - nowMs);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    this.#cancel?.();
    await this.#running;
  }

  #wait(forMs: number): void {
    if (this.#ending.signal.aborted) return;
    this.#cancel = this.#options.clock.schedule(forMs, () => {
      this.#running = this.#backUp();
    });
  }

  async #backUp(): Promise<void> {
    const { clock, logger, directory, times, run } = this.#options;
    const { code, said } = await run(this.#ending.signal);
    if (this.#ending.signal.aborted) return;
    const nowMs = clock.nowMs();
    const untilNextMs = nextTimeAfter(nowMs, times) - nowMs;
    const isDone = code === 0;
    this.#runs.inc({ outcome: isDone ? 'done' : 'failed' });
    if (isDone) {
      this.#lastSuccess.set(nowMs / 1_000);
      logger.info({ said }, 'a backup was made');
      await directory.replace(recordName, String(nowMs)).catch((error: unknown) => {
        // The backup is there. Without this record, the next start of the server only takes another one.
        logger.warn({ error: messageOf(error) }, 'the time of the backup could not be recorded');
      });
    } else {
      logger.error({ code, said }, 'a backup failed');
    }
    this.#wait(isDone || code === incompleteCode ? untilNextMs : Math.min(retryMs, untilNextMs));
  }
}

const midnightOf = (atMs: number): number => Math.floor(atMs / dayMs) * dayMs;

const timesAround = (atMs: number, times: readonly number[]): readonly number[] =>
  [-1, 0, 1].flatMap((day) => times.map((minute) => midnightOf(atMs) + day * dayMs + minute * minuteMs));

/** The first time of the schedule after this one. */
export const nextTimeAfter = (atMs: number, times: readonly number[]): number =>
  Math.min(...timesAround(atMs, times).filter((time) => time > atMs));

const lastTimeBefore = (atMs: number, times: readonly number[]): number =>
  Math.max(...timesAround(atMs, times).filter((time) => time <= atMs));

/** The command line in the form in which this file runs: built, or as source. */
const commandLine = fileURLToPath(new URL(`../../cli/main${extname(import.meta.url)}`, import.meta.url));

/** The command line, with the settings of this process. */
export const runBackupCommand: RunBackup = (signal) =>
  new Promise((resolve) => {
    const child: ChildProcess = spawn(process.execPath, [...process.execArgv, commandLine, 'backup'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let said = '';
    child.stderr?.on('data', (piece: Buffer) => {
      said = `${said}${piece.toString('utf8')}`.slice(-outputBytesMax);
    });
    child.once('error', (error) => resolve({ code: null, said: error.message }));
    child.once('close', (code) => resolve({ code, said: lastLineOf(said) }));
  });

const lastLineOf = (text: string): string => text.trim().split('\n').at(-1) ?? '';
