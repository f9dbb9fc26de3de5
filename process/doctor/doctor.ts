/**
 * `scriptorium doctor`: checks what a server depends on, with the server's own settings, and says how to fix what is wrong. It
 * changes nothing, and the server may be running.
 */

import { existsSync, type StatsFs } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { probeKeyPurpose, probeQuestion } from '../../gateway/admission/proxy-probe.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { type Random, systemRandom } from '../../runtime/random.ts';
import { dial, type NatsAccess, serverOf } from '../../runtime/transport/nats/dial.ts';
import { connectionsWithin } from '../capacity.ts';
import { ConfigError, type Configuration, configuration } from '../config/config.ts';
import { connectionsOf } from '../database-settings.ts';
import { parseRootSecret, rootSecretFile } from '../root-secret.ts';
import { diagnoseDatabase } from './database.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
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
      : diagnoseDatabase({
          connectionString: secrets.databaseUrl,
          connections: connectionsOf(config.database),
          clockSkewMaxMs: config.clockSkewMaxMs,
          nowMs: () => systemClock.nowMs(),
        }),
    config.nats === undefined
      ? []
      : checkNats({ ...config.nats, servers: secrets.natsUrls ?? [] }, systemRandom),
    publicUrl === undefined
      ? []
      : questionOf(secrets.secretKey, dataDirectory).then((question) =>
          checkPublicUrl(publicUrl, systemClock.nowMs(), question),
        ),
  ]);
  return [...configurationFindings(warnings), ...findings.flat()];
}

/** Undefined if the root secret is in a file of the server that the doctor cannot read. */
async function questionOf(secretKey: string | undefined, dataDirectory: string): Promise<string | undefined> {
  const text = secretKey ?? (await readFile(join(dataDirectory, rootSecretFile), 'utf8').catch(() => ''));
  const rootSecret = parseRootSecret(text.trim());
  if (rootSecret === undefined) return undefined;
  const key = createKeyring(rootSecret).derive(probeKeyPurpose);
  return probeQuestion(key, systemClock.nowMs(), systemRandom);
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

// --- NATS --------------------------------------------------------------------------------------------------

/* Whether each NATS server of `NATS_URL` can be used: reached, large enough messages, JetStream. */

const pingIntervalMs = 10_000;

/** A finding for each server. */
function checkNats(access: NatsAccess, random: Random): Promise<readonly Finding[]> {
  return Promise.all(access.servers.map((url) => checkServer(url, access, random)));
}

async function checkServer(url: string, access: NatsAccess, random: Random): Promise<Finding> {
  try {
    const server = serverOf(url);
    const check = `NATS ${server.address}`;
    const { client } = await dial([server], { access, name: 'scriptorium doctor', pingIntervalMs, random });
    try {
      const version = client.info?.version ?? 'unknown';
      const hasJetStream = await jetstreamManager(client).then(
        () => true,
        () => false,
      );
      if (hasJetStream) return ok(check, `Version ${version} answers, with JetStream.`);
      return problem(
        check,
        `Version ${version} answers, without JetStream: wake-ups wait for sweeps.`,
        'Start it with `--jetstream`, and allow this user to use it.',
      );
    } finally {
      await client.close();
    }
  } catch (error) {
    return problem(
      'NATS',
      (error as Error).message,
      'Check NATS_URL, NATS_CREDENTIALS_FILE and NATS_CA_FILE, and max_payload in its configuration.',
    );
  }
}

// --- the machine -------------------------------------------------------------------------------------------

/* What the machine gives the server: file descriptors and room on its disks. */

const gibibyte = 2 ** 30;
/** PostgreSQL stops for good on a full disk, and an upload needs room before it is refused for want of it. */
const freeBytesMin = gibibyte;
const freeShareMin = 0.1;

export function checkDescriptors(connectionsMax: number, limits?: string): Finding {
  const check = 'file descriptors';
  const possible = connectionsWithin(connectionsMax, limits);
  if (possible === connectionsMax) return ok(check, `They allow all ${connectionsMax} connections.`);
  return warning(
    check,
    `They allow ${possible} of the ${connectionsMax} connections of CONNECTIONS_MAX.`,
    'Raise the limit: `ulimit -n`, or LimitNOFILE= in the service.',
  );
}

type Disk = Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>;

/** `folder` may not exist yet: then it is on the disk of the nearest folder above that does. */
export async function checkDisk(
  what: string,
  folder: string,
  measure: (path: string) => Promise<Disk> = statfs,
): Promise<Finding> {
  const check = `disk of ${what}`;
  const disk = await measure(existing(resolve(folder))).catch((error: Error) => error);
  if (disk instanceof Error)
    return problem(check, `Its size is unknown: ${disk.message}.`, 'See that it is mounted and can be read.');
  const { bavail, blocks, bsize } = disk;
  const free = bavail * bsize;
  const found = `${(free / gibibyte).toFixed(1)} GiB are free, ${Math.round((bavail / blocks) * 100)} % of the disk.`;
  const remedy = 'Make room, or move it to a larger disk.';
  if (free < freeBytesMin) return problem(check, found, remedy);
  return bavail / blocks < freeShareMin ? warning(check, found, remedy) : ok(check, found);
}

function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}
