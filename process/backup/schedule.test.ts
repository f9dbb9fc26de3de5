import test from 'ava';
import { Registry } from 'prom-client';
import { silentLogger } from '../../runtime/ports.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { nextTimeAfter, startBackupSchedule } from './schedule.ts';

const hourMs = 3_600_000;
const at = (text: string): number => Date.parse(text);

function world(startMs: number) {
  const clock = new FakeClock(startMs);
  const records = new Map<string, string>();
  const registry = new Registry();
  const runs: string[] = [];
  let code = 0;
  let isDiskFull = false;
  const begin = (times: readonly number[]) =>
    startBackupSchedule({
      times,
      directory: {
        find: async (name) => records.get(name),
        replace: async (name, text) => {
          if (isDiskFull) throw new Error('ENOSPC');
          records.set(name, text);
        },
      },
      clock,
      logger: silentLogger,
      registry,
      run: async () => {
        runs.push(new Date(clock.nowMs()).toISOString().slice(11, 16));
        return { code, said: '' };
      },
    });
  const advance = (byMs: number) => clock.advance(byMs);
  const failing = (isFailing: boolean) => ending(isFailing ? 69 : 0);
  const ending = (exitCode: number) => {
    code = exitCode;
  };
  const fillDisk = () => {
    isDiskFull = true;
  };
  return { clock, records, registry, runs, begin, advance, failing, ending, fillDisk };
}

test('the next time of the day is after now, today or tomorrow', (t) => {
  const times = [3 * 60 + 15, 15 * 60];
  t.is(nextTimeAfter(at('2026-01-01T03:14:59Z'), times), at('2026-01-01T03:15:00Z'));
  t.is(nextTimeAfter(at('2026-01-01T03:15:00Z'), times), at('2026-01-01T15:00:00Z'));
  t.is(nextTimeAfter(at('2026-01-01T15:00:00Z'), times), at('2026-01-02T03:15:00Z'));
});

test('a backup runs at each time, and its success is kept and shown', async (t) => {
  const { begin, advance, runs, records, registry, clock } = world(at('2026-01-01T00:00:00Z'));
  const schedule = await begin([3 * 60 + 15]);
  await advance(24 * hourMs);
  t.deepEqual(runs, ['03:15']);
  t.is(records.get('last-backup'), String(at('2026-01-01T03:15:00Z')));
  const metrics = await registry.metrics();
  t.regex(metrics, /scriptorium_backup_last_success_timestamp_seconds 1767237300/);
  t.regex(metrics, /scriptorium_backups_total\{outcome="done"\} 1/);
  await schedule.stop();
  await advance(24 * hourMs);
  t.is(runs.length, 1);
  t.is(clock.nowMs(), at('2026-01-03T00:00:00Z'));
});

test('a backup that failed is tried every hour until it works', async (t) => {
  const { begin, advance, runs, failing, registry } = world(at('2026-01-01T03:00:00Z'));
  await begin([3 * 60 + 15]);
  failing(true);
  await advance(2.5 * hourMs);
  t.deepEqual(runs, ['03:15', '04:15', '05:15']);
  failing(false);
  await advance(20 * hourMs);
  t.deepEqual(runs.slice(3), ['06:15']);
  t.regex(await registry.metrics(), /scriptorium_backups_total\{outcome="failed"\} 3/);
});

test('a backup that lacks lost files counts as failed, and is made once for each time', async (t) => {
  const { begin, advance, runs, ending, registry, records } = world(at('2026-01-01T03:00:00Z'));
  await begin([3 * 60 + 15]);
  const before = records.get('last-backup');
  ending(65);
  await advance(48 * hourMs);
  t.deepEqual(runs, ['03:15', '03:15']);
  t.is(records.get('last-backup'), before);
  t.regex(await registry.metrics(), /scriptorium_backups_total\{outcome="failed"\} 2/);
});

test('a full disk, on which the time of a backup cannot be recorded, ends neither the server nor its backups', async (t) => {
  const { begin, advance, runs, records, fillDisk } = world(at('2026-01-01T03:00:00Z'));
  await begin([3 * 60 + 15]);
  const before = records.get('last-backup');
  fillDisk();
  await advance(25 * hourMs);
  t.deepEqual(runs, ['03:15', '03:15']);
  t.is(records.get('last-backup'), before);
});

test('a time that was missed while the server was down is made up for after the start', async (t) => {
  const { begin, advance, runs, records } = world(at('2026-01-02T09:00:00Z'));
  records.set('last-backup', String(at('2026-01-01T03:20:00Z')));
  await begin([3 * 60 + 15]);
  await advance(hourMs);
  t.deepEqual(runs, ['09:01']);
});

test('a server that has a new schedule waits for its time', async (t) => {
  const { begin, advance, runs } = world(at('2026-01-02T09:00:00Z'));
  await begin([3 * 60 + 15]);
  await advance(hourMs);
  t.deepEqual(runs, []);
});
