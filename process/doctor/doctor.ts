/**
 * `scriptorium doctor`: checks what a server depends on, with the server's own settings, and says how to fix what is wrong. It
 * changes nothing, and the server may be running.
 */
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { ConfigError, type Configuration, configuration } from '../config/config.ts';
import { connectionsOf } from '../database-settings.ts';
import { checkDatabase } from './database.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkDescriptors, checkDisk } from './machine.ts';
import { checkNats } from './nats.ts';
import { checkPublicUrl } from './public-url.ts';

/** The findings in the order in which to fix them. If the configuration is invalid, that is the only finding. */
export async function examine(read: () => Configuration = configuration): Promise<readonly Finding[]> {
  const configured = configurationOrFindings(read);
  if (!('config' in configured)) return configured;
  const { config, secrets, warnings } = configured;
  const { publicUrl, fileStore, dataDirectory } = config;
  const findings = await Promise.all([
    [checkDescriptors(config.gateway.connectionsMax)],
    checkDisk('the data directory', dataDirectory).then((finding) => [finding]),
    fileStore.kind === 'local' && fileStore.folder !== undefined
      ? checkDisk('files', fileStore.folder).then((finding) => [finding])
      : [],
    secrets.databaseUrl === undefined
      ? []
      : checkDatabase({
          connectionString: secrets.databaseUrl,
          connections: connectionsOf(config.database),
          clockSkewMaxMs: config.clockSkewMaxMs,
          nowMs: () => systemClock.nowMs(),
        }),
    config.nats === undefined
      ? []
      : checkNats({ ...config.nats, servers: secrets.natsUrls ?? [] }, systemRandom),
    publicUrl === undefined ? [] : checkPublicUrl(publicUrl, systemClock.nowMs()),
  ]);
  return [...configurationFindings(warnings), ...findings.flat()];
}

function configurationOrFindings(read: () => Configuration): Configuration | readonly Finding[] {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [problem('configuration', error.message, 'Correct these settings: docs/configuration.md.')];
  }
}

function configurationFindings(warnings: readonly string[]): readonly Finding[] {
  if (warnings.length === 0) return [ok('configuration', 'It is valid.')];
  return warnings.map((text) => warning('configuration', text, 'See docs/configuration.md.'));
}
