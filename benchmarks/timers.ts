/**
 * Ten thousand timers due at once, at the runtime on its own database (fsync on). It measures the time until all have fired, and
 * how requests slow down meanwhile.
 *
 * node --import=tsx benchmarks/timers.ts [--timers 10000] [--actors 1000] [--callers 8]
 */
import { z } from 'zod';
import type { EmbeddedConnection } from '../process/postgres/embedded.ts';
import { sleep, systemClock } from '../runtime/clock.ts';
import { command, timer } from '../runtime/command.ts';
import { contract, keyed } from '../runtime/contract.ts';
import { kind } from '../runtime/kind.ts';
import { systemRandom } from '../runtime/random.ts';
import { slice } from '../runtime/slice.ts';
import { withDatabase } from './support/database.ts';
import { median, printFigures, quantile } from './support/figures.ts';
import { startHost } from './support/host.ts';
import { numberOptions } from './support/options.ts';

const { timers, actors: actorCount, callers } = numberOptions({ timers: 10_000, actors: 1_000, callers: 8 });
/** Long enough to arm all of them before the first is due. */
const leadMs = 15_000;
const calmMs = 3_000;

const fired = slice({ name: 'fired', format: 1, schema: z.number(), initial: 0 });
const Alarm = contract({ name: 'alarm', timers: { ring: z.null() } });
const alarm = kind({
  name: Alarm.name,
  slices: [fired],
  commands: {
    arm: command(
      { request: z.object({ dueMs: z.number(), count: z.number() }), reply: z.null() },
      {
        creates: true,
        turn: (turn, { dueMs, count }) => {
          for (let index = 0; index < count; index += 1) {
            turn.arm(keyed(Alarm.timers.ring, String(index)), dueMs, null);
          }
          return null;
        },
      },
    ),
    touch: command({ request: z.null(), reply: z.number() }, (turn) => {
      turn.set(fired, turn.get(fired));
      return turn.get(fired);
    }),
  },
  timers: {
    ring: timer(Alarm.timers.ring, (turn) => turn.set(fired, turn.get(fired) + 1)),
  },
});

async function run(connection: EmbeddedConnection): Promise<Record<string, number>> {
  let done = 0;
  const { actors, stop } = await startHost(connection, alarm, {
    delivered: () => {
      done += 1;
    },
  });
  const ids = Array.from({ length: actorCount }, () => systemRandom.uuid());
  const dueMs = systemClock.nowMs() + leadMs;
  for (let at = 0; at < ids.length; at += 50) {
    const some = ids.slice(at, at + 50);
    const count = timers / actorCount;
    await Promise.all(some.map((id) => actors.get(alarm, id).ask.arm({ dueMs, count })));
  }
  const touches: { atMs: number; tookMs: number }[] = [];
  let stopped = false;
  const touching = Array.from({ length: callers }, async (_, caller) => {
    for (let index = caller; !stopped; index += callers) {
      const atMs = systemClock.nowMs();
      const startedMs = performance.now();
      await actors.get(alarm, ids[index % ids.length] ?? '').ask.touch(null);
      touches.push({ atMs, tookMs: performance.now() - startedMs });
      await sleep(systemClock, 5);
    }
  });
  while (done < timers) await sleep(systemClock, 10);
  const lastMs = systemClock.nowMs();
  await sleep(systemClock, 100);
  stopped = true;
  await Promise.all(touching);
  await stop();
  const tookMs = (fromMs: number, toMs: number) =>
    touches.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map((touch) => touch.tookMs);
  const calm = tookMs(dueMs - calmMs, dueMs);
  const busy = tookMs(dueMs, lastMs);
  return {
    'ms until all have fired': lastMs - dueMs,
    'timers fired/s': (timers * 1_000) / (lastMs - dueMs),
    'p50 ms of saves before': median(calm),
    'p99 ms of saves before': quantile(calm, 0.99),
    'p50 ms of saves beside them': median(busy),
    'p99 ms of saves beside them': quantile(busy, 0.99),
  };
}

await withDatabase([], async (connection) => {
  printFigures(`${timers} timers of ${actorCount} actors due at once`, await run(connection));
});
process.exit(0);
