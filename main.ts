/** The entry: reads the configuration, starts the server, tells where it is, and owns how the process ends. */
import { NativeHttpError } from './gateway/http/native-library.ts';
import { ConfigError, type Configuration, configuration } from './process/config/config.ts';
import { urlHost } from './process/config/hosts.ts';
import type { Config } from './process/config/settings.ts';
import type { InternalApiAddresses } from './process/internal-api.ts';
import { Lifetime } from './process/lifetime.ts';
import { createLogger } from './process/logger.ts';
import { captureOutput } from './process/output.ts';
import { ownVersion } from './process/own-version.ts';
import type { Ports } from './process/server.ts';
import { StartError, serverExitCodes } from './process/start-error.ts';
import { systemClock } from './runtime/clock.ts';
import { loggable } from './runtime/errors.ts';
import { systemRandom } from './runtime/random.ts';

/** Beyond the two drains: what stopping the database may take. */
const closeSlackMs = 25_000;

async function main(): Promise<void> {
  const { config, secrets, warnings } = readConfiguration();
  const logger = createLogger({ level: config.logLevel, node: config.nodeId });
  for (const warning of warnings) say(warning);
  captureOutput(logger, process, console);
  const closeMaxMs = 2 * config.drainTimeoutMs + closeSlackMs;
  const exit = (code: number) => process.exit(code);
  const lifetime = new Lifetime({ logger, clock: systemClock, closeMaxMs, exit });
  lifetime.listen(process);
  // A server does not outlive its supervisor (supervisor.ts).
  process.once('disconnect', () => lifetime.signal('SIGTERM'));
  process.on('uncaughtException', (error) => {
    logger.fatal({ error: loggable(error) }, 'a defect: ending at once');
    exit(serverExitCodes.software);
  });
  const ports = { clock: systemClock, random: systemRandom, logger, lifetime };
  const options = { config, secrets, version: ownVersion(), ...ports };
  try {
    const started = await lifetime.open(async () => {
      const { startServer } = await loadServer();
      return startServer(options);
    });
    if (started !== undefined) announce(config, started);
  } catch (error) {
    if (error instanceof StartError) say(error.message);
    else logger.fatal({ error: loggable(error) }, 'the start failed unexpectedly');
    await lifetime.end(error instanceof StartError ? error.exitCode : serverExitCodes.software);
  }
}

/** With the native HTTP server, of which this system may have none. @throws StartError */
async function loadServer() {
  try {
    return await import('./process/server.ts');
  } catch (error) {
    if (!(error instanceof NativeHttpError)) throw error;
    throw StartError.config(error.message, error);
  }
}

function announce(config: Config, { port, adminPort, internalApi }: Ports): void {
  const address = config.publicUrl ?? `http://${urlHost(config.host)}:${port}`;
  const clients =
    port === undefined
      ? 'No client connects to this process: it is a host.'
      : `Put this address into your client as the sync server: ${address}`;
  process.stdout.write(
    `Scriptorium is running. ${clients}\n` +
      `Metrics and probes: http://${urlHost(config.adminHost)}:${adminPort}/metrics\n` +
      `Internal API: ${addressesOf(config, internalApi).join(', ')}\n`,
  );
}

function addressesOf(
  { internalApi: { host } }: Config,
  { socketPath, port }: InternalApiAddresses,
): string[] {
  return port === undefined ? [socketPath] : [socketPath, `${urlHost(host)}:${port}`];
}

function readConfiguration(): Configuration {
  try {
    return configuration();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    say(error.message);
    process.exit(serverExitCodes.config);
  }
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}

await main();
