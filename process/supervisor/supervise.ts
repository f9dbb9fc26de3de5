/** The supervisor's work after its server has died (`supervisor.ts` has the protocol). */

import { sleep, systemClock } from '../../runtime/clock.ts';
import { loggable } from '../../runtime/errors.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { Configuration } from '../config/config.ts';
import { Lifetime } from '../lifetime.ts';
import { createLogger } from '../logger.ts';
import { giveUpDeadServer } from './give-up.ts';

/** A start that waits for an unavailable database would be no sooner than the lease. */
const giveUpMostMs = 5_000;

/** Ends this process with the exit code of the server. */
export async function superviseServer(
  { config, secrets }: Configuration,
  run: () => Promise<number>,
): Promise<void> {
  const clock = systemClock;
  const exitCode = await run();
  const logger = createLogger({ level: config.logLevel, node: config.nodeId });
  const exit = () => process.exit(exitCode);
  const lifetime = new Lifetime({ logger, clock, closeMostMs: giveUpMostMs, exit });
  const options = { config, secrets, clock, random: systemRandom, logger, lifetime };
  const givingUp = lifetime
    .open(() => giveUpDeadServer(options))
    .catch((error: unknown) => {
      logger.warn({ error: loggable(error) }, 'the lease of the dead server ends by itself');
    });
  // A server that shut down cleanly has given up its lease itself, and left no name.
  await Promise.race([givingUp, sleep(clock, giveUpMostMs)]);
  await lifetime.end(exitCode);
}
