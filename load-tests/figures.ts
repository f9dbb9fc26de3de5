/**
 * The figures of README, measured against the server as `npm start` runs it (embedded database, fsync on).
 *
 *   npm run build && node --import=tsx load-tests/figures.ts [--runs 3] [--only idle-sync,saves,bulk,sign-ins,factors,memory,sockets]
 *
 * Each figure is the median of the runs; ratios are of one run. The load generator shares the machine with the
 * server, so rates are a lower bound and CPU time per request is the better measure.
 */
import { parseArgs } from 'node:util';
import { bulk } from './scenarios/bulk.ts';
import { factors } from './scenarios/factors.ts';
import { idleSync } from './scenarios/idle-sync.ts';
import { memory } from './scenarios/memory.ts';
import { saves } from './scenarios/saves.ts';
import { signIns } from './scenarios/sign-ins.ts';
import { sockets } from './scenarios/sockets.ts';
import { printFigures } from './support/figures.ts';
import { startBuiltServer } from './support/server.ts';
import { medians } from './support/statistics.ts';

const scenarios = { memory, 'idle-sync': idleSync, saves, bulk, 'sign-ins': signIns, factors, sockets };

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, only: { type: 'string' } },
});
const wanted = values.only?.split(',') ?? Object.keys(scenarios);

for (const [name, scenario] of Object.entries(scenarios)) {
  if (!wanted.includes(name)) continue;
  const figures = await medians(Number(values.runs), async () => {
    const server = await startBuiltServer();
    try {
      return await scenario(server);
    } finally {
      await server.stop();
    }
  });
  printFigures(name, figures);
}
