/**
 * The figures of one process, measured against the server as `npm start` runs it (embedded database, fsync on).
 *
 * npm run build && node --import=tsx benchmarks/figures.ts [--runs 3] [--only <a name below>,…] [--part 1] [--of REVISION]
 *
 * Each figure is the median of the runs; ratios are of one run. The load generator shares the machine with the
 * server, so rates are a lower bound and CPU time per request is the better measure. `--part 0.05` runs the figures
 * of calendars, the assistant and joining at a twentieth of their size. `--of` measures another revision, or `floor`.
 */
import { parseArgs } from 'node:util';
import { assistant } from './scenarios/assistant.ts';
import { bulk } from './scenarios/bulk.ts';
import { calendar } from './scenarios/calendar.ts';
import { factors } from './scenarios/factors.ts';
import { files } from './scenarios/files.ts';
import { idleSync } from './scenarios/idle-sync.ts';
import { joining } from './scenarios/joining.ts';
import { memory } from './scenarios/memory.ts';
import { push } from './scenarios/push.ts';
import { reconnects } from './scenarios/reconnects.ts';
import { saves } from './scenarios/saves.ts';
import { signIns } from './scenarios/sign-ins.ts';
import { sockets } from './scenarios/sockets.ts';
import { vaultSaves } from './scenarios/vault-saves.ts';
import { vaultSyncs } from './scenarios/vault-syncs.ts';
import { buildOf } from './support/build.ts';
import { medians, printFigures } from './support/figures.ts';
import { startBuiltServer } from './support/server.ts';

const scenarios = {
  memory,
  'idle-sync': idleSync,
  saves,
  bulk,
  'sign-ins': signIns,
  factors,
  sockets,
  files,
  'vault-of-2': vaultSaves(2),
  'vault-of-50': vaultSaves(50),
  'vault-of-500': vaultSaves(500),
  'vault-syncs': vaultSyncs,
  joining,
  push,
  reconnects,
  calendar,
  assistant,
};

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    only: { type: 'string' },
    part: { type: 'string', default: '1' },
    of: { type: 'string' },
  },
});
const build = values.of === undefined ? undefined : buildOf(values.of);
const selected = values.only?.split(',') ?? Object.keys(scenarios);

for (const [name, scenario] of Object.entries(scenarios)) {
  if (!selected.includes(name)) continue;
  const figures = await medians(Number(values.runs), async () => {
    const server = await startBuiltServer({}, undefined, build);
    try {
      return await scenario(server, Number(values.part));
    } finally {
      await server.stop();
    }
  });
  printFigures(name, figures);
}
