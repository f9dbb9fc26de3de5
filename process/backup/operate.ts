/** What `scriptorium backup` and `scriptorium restore` do, by the settings of the server. No node is asked. */
import { readFile } from 'node:fs/promises';
import { createKeyring } from '../../runtime/keyring.ts';
import { systemRandom } from '../../runtime/random.ts';
import { StoreError } from '../../runtime/store/store.ts';
import type { BackupConfiguration } from '../config/config.ts';
import { freshGeneration } from '../database.ts';
import { ownVersion } from '../own-version.ts';
import { keyringFingerprint } from '../root-secret.ts';
import { StartError } from '../start-error.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { type BackedUp, backUp } from './create.ts';
import { BackupError } from './error.ts';
import { backupsIn, type Manifest, readManifest } from './format.ts';
import {
  openFilesOfServer,
  openForBackup,
  openForRestore,
  openSource,
  openTarget,
  secretKeyOf,
  using,
} from './open.ts';
import { restore } from './restore.ts';
import { openerWith, sealerFor } from './sealing.ts';
import type { BackupTarget } from './target.ts';
import { type VerifiedBackup, verify } from './verify.ts';

export interface BackupRequest {
  /** Without one, BACKUP_TARGET. */
  readonly target: string | undefined;
  /** Without any, BACKUP_RECIPIENTS. */
  readonly recipients: readonly string[];
  /** Without one, BACKUP_KEEP. */
  readonly keep: number | undefined;
  readonly nowMs: number;
  readonly onProgress: (text: string) => void;
}

/** @throws BackupError | StartError */
export function backUpServer(config: BackupConfiguration, request: BackupRequest): Promise<BackedUp> {
  const { recipients, keep = config.backup.keep, nowMs, onProgress } = request;
  return guarded(async () => {
    const sealer = await sealerFor(recipients.length > 0 ? recipients : config.backup.recipients);
    return withTarget(config, { ...request, create: true }, (target) =>
      using(openForBackup(config), (connection) =>
        using(openSource(config), (source) =>
          backUp({
            connection,
            source,
            target,
            sealer,
            keep,
            release: ownVersion(),
            nowMs,
            random: (bytes) => systemRandom.bytes(bytes),
            onProgress,
          }),
        ),
      ),
    );
  });
}

/** Those that are whole, the newest first. @throws BackupError */
export function listBackups(
  config: BackupConfiguration,
  target: string | undefined,
): Promise<readonly Manifest[]> {
  return guarded(() =>
    withTarget(config, { target, create: false }, async (opened) => {
      const { whole } = await backupsIn(opened);
      const manifests: Manifest[] = [];
      for (const id of whole.toReversed()) manifests.push(await readManifest(opened, id));
      return manifests;
    }),
  );
}

export interface RestoreRequest {
  readonly target: string | undefined;
  /** Without one, the newest. */
  readonly backup: string | undefined;
  /** The file with the identity of age. */
  readonly identityFile: string | undefined;
  /** Sync tokens stay valid. Right only for a move, when nobody has saved anything after the backup. */
  readonly keepPositions: boolean;
  readonly onProgress: (text: string) => void;
}

export interface RestoredBackup {
  readonly manifest: Manifest;
  /** Whether the secret key of this server is that of the database. Undefined if there is none here. */
  readonly isSecretKeyRight: boolean | undefined;
}

/** @throws BackupError | StartError */
export function restoreServer(config: BackupConfiguration, request: RestoreRequest): Promise<RestoredBackup> {
  const { keepPositions, onProgress } = request;
  return guarded(() =>
    withTarget(config, { ...request, create: false }, async (target) => {
      const manifest = await chosenManifest(target, request.backup);
      const opener = await openerWith(await identitiesIn(request.identityFile));
      const generation = keepPositions ? undefined : freshGeneration(systemRandom);
      await using(openForRestore(config), (connection) =>
        using(openFilesOfServer(config), (files) =>
          restore({ connection, target, opener, manifest, files, generation, onProgress }),
        ),
      );
      return { manifest, isSecretKeyRight: await isSecretKeyRight(config, manifest) };
    }),
  );
}

export interface VerifyRequest {
  readonly target: string | undefined;
  /** Without one, the newest. */
  readonly backup: string | undefined;
  readonly identityFile: string | undefined;
  /** How many accounts sign in. */
  readonly accounts: number;
  /** Where the scratch folder is made. Without one, in the folder of temporary files. */
  readonly scratchIn: string | undefined;
  readonly onProgress: (text: string) => void;
}

/** @throws BackupError | StartError */
export function verifyBackup(config: BackupConfiguration, request: VerifyRequest): Promise<VerifiedBackup> {
  const { accounts, scratchIn: parent, onProgress } = request;
  return guarded(() =>
    withTarget(config, { target: request.target, create: false }, async (target) => {
      const manifest = await chosenManifest(target, request.backup);
      const opener = await openerWith(await identitiesIn(request.identityFile));
      return withTemporaryFolder({ prefix: 'scriptorium-verify-', parent }, (scratch, unlessInterrupted) =>
        verify({ target, manifest, opener, scratch, unlessInterrupted, accounts, onProgress }),
      );
    }),
  );
}

/** @throws BackupError */
async function chosenManifest(target: BackupTarget, id: string | undefined): Promise<Manifest> {
  const { whole } = await backupsIn(target);
  const chosen = id ?? whole.at(-1);
  if (chosen === undefined) throw BackupError.refused('There is no backup.');
  if (!whole.includes(chosen)) {
    throw BackupError.refused(
      `There is no backup ${chosen}: \`scriptorium backup list\` shows those that are there.`,
    );
  }
  return readManifest(target, chosen);
}

/** @throws BackupError */
async function identitiesIn(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw BackupError.refused(`The file of --identity cannot be read: ${(error as Error).message}.`, error);
  }
}

async function isSecretKeyRight(
  config: BackupConfiguration,
  { secretKeyFingerprint }: Manifest,
): Promise<boolean | undefined> {
  const key = await secretKeyOf(config);
  if (key === undefined) return undefined;
  return keyringFingerprint(createKeyring(Buffer.from(key, 'hex'))) === secretKeyFingerprint;
}

/** @throws BackupError */
async function withTarget<T>(
  config: BackupConfiguration,
  { target: targetText, create }: { readonly target: string | undefined; readonly create: boolean },
  work: (target: BackupTarget) => Promise<T>,
): Promise<T> {
  const location = targetText ?? config.backup.target;
  if (location === undefined) {
    throw BackupError.refused(
      'Name the place of the backups, a folder or s3://bucket/prefix, or set BACKUP_TARGET.',
    );
  }
  const target = await openTarget(location, config, { create });
  try {
    return await work(target);
  } finally {
    target.close();
  }
}

/** Turns an error of the database into a BackupError, which has the database's own message. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BackupError || error instanceof StartError) throw error;
    const { message, code } = error as Error & { code?: unknown };
    if (!(error instanceof StoreError) && typeof code !== 'string') throw error;
    throw BackupError.unavailable(`The database cannot be used: ${message}.`, error);
  }
}
