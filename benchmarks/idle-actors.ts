/**
 * The cost of idle actors in memory: the CPU time of a host over a model of the database. It covers ten seconds of
 * the host's clock, which the benchmark moves.
 *
 * node --import=tsx benchmarks/idle-actors.ts [--actors 50000]
 */
import { z } from 'zod';
import { command } from '../runtime/command.ts';
import { kind } from '../runtime/kind.ts';
import { slice } from '../runtime/slice.ts';
import { FakeClock } from '../test/kit/clock.ts';
import { startTestHost } from '../test/kit/host.ts';
import { printFigures } from './support/figures.ts';
import { numberOptions } from './support/options.ts';

const { actors: actorCount } = numberOptions({ actors: 50_000 });
const atOnce = 500;
const idleMs = 10_000;
const neverMs = 1_000_000_000;

const number = slice({ name: 'number', format: 1, schema: z.number(), initial: 0 });
const counter = kind({
  name: 'counter',
  slices: [number],
  commands: {
    count: command(
      { request: z.null(), reply: z.null() },
      {
        creates: true,
        turn: (turn) => {
          turn.set(number, turn.get(number) + 1);
          return null;
        },
      },
    ),
  },
});

const clock = new FakeClock();
const host = await startTestHost({ kinds: [counter], clock, leaseMs: neverMs });
for (let from = 0; from < actorCount; from += atOnce) {
  const ids = Array.from({ length: Math.min(atOnce, actorCount - from) }, (_, index) => `${from + index}`);
  let isDone = false;
  const counted = Promise.all(ids.map((id) => host.actors.get(counter, id).ask.count(null)));
  void counted.then(() => {
    isDone = true;
  });
  while (!isDone) await clock.advance(1);
}
await clock.advance(1_000);
const before = process.cpuUsage();
await clock.advance(idleMs);
const { user, system } = process.cpuUsage(before);
printFigures(`${actorCount} idle actors`, { 'part of a core, %': (user + system) / idleMs / 10 });
process.exit(0);
