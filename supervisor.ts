/**
 * The entry of a supervised server: `npm start`, services and containers run this, and it runs the server (`main.ts`).
 *
 * In a cluster the other hosts take over from a dead one when its lease is over. They cannot tell a dead process from a paused
 * one, which may still commit. Its parent can. So the supervisor stays beside the server, does nothing, and acts once:
 *
 *   running    it waits for the death of the server as the operating system tells a parent (waitpid), and passes signals on
 *   dead       it takes the lock of the data directory, which the kernel has freed; gives up exactly the incarnation that the
 *              directory names (`process/last-run.ts`); and hints to the others that the nodes have changed
 *   ended      it ends with the exit code of the server, for the service manager to start both again
 *
 * Invariants
 *   - Death is the only trigger. Silence is no proof, and neither is a closed connection to NATS or to the database. A server
 *     that is stopped, frozen or swapped out has not died, and waitpid does not report it.
 *   - The lock is the proof. While any process holds the directory, nothing is given up.
 *   - One incarnation is given up, by its own name. A supervisor that is late, or acts twice, changes nothing for the next one.
 *
 * A crash at each step: a supervisor that dies with its server, or before it has acted, leaves the lease, which then ends by
 * itself. The next start on the directory gives up the same incarnation again. A supervisor that dies alone takes
 * the server along: it sees its channel close, and shuts down in order.
 *
 * Without a cluster no other host could take over, and the server runs in this process.
 */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, type Configuration, configuration } from './process/config/config.ts';
import type { Config } from './process/config/settings.ts';

/** The server reports a wrong setting, together with all others. */
function configurationOfCluster(): Configuration | undefined {
  try {
    const read = configuration();
    return isOfCluster(read.config) ? read : undefined;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

const isOfCluster = ({ nats }: Config): boolean => nats !== undefined;

/** The server's entry in the form of this file: built, or from source. */
const serverEntry = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));

const ofCluster = configurationOfCluster();
if (ofCluster === undefined) {
  await import('./main.ts');
} else {
  // Loaded before it is needed: the users of a dead server wait for it.
  const [{ superviseServer }, { runServer }] = await Promise.all([
    import('./process/supervisor/supervise.ts'),
    import('./process/supervisor/child.ts'),
  ]);
  await superviseServer(ofCluster, () => runServer(serverEntry));
}
