/**
 * Removes backups from a target: those beyond the number to keep, unfinished ones, and blobs that no kept backup names. So the
 * ciphertext of deleted accounts and files goes with the last backup that has it.
 *
 * The manifest goes first: a crash leaves an unfinished backup, and the next run removes that.
 */
import { BackupError } from './error.ts';
import { backupsIn, digits, folderOf, type Manifest, manifestOf, readManifest, verified } from './format.ts';
import type { BackupTarget } from './target.ts';

const removeBatchMax = 1_000;

/** Leaves the newest `keep` backups. @throws BackupError */
export async function pruneBackups(target: BackupTarget, keep: number): Promise<void> {
  const { whole, unfinished } = await backupsIn(target);
  const surplus = whole.slice(0, Math.max(0, whole.length - keep));
  for (const id of [...surplus, ...unfinished]) await removeBackup(target, id);
  await pruneBlobs(target, whole.slice(surplus.length));
}

async function removeBackup(target: BackupTarget, id: string): Promise<void> {
  await target.remove([manifestOf(id)]);
  await removeAll(target, target.list(folderOf(id)), () => true);
}

async function pruneBlobs(target: BackupTarget, backupIds: readonly string[]): Promise<void> {
  const manifests: Manifest[] = [];
  for (const id of backupIds) {
    const manifest = await unlessDamaged(readManifest(target, id));
    // A damaged manifest may have named any blob, so all blobs stay until it is removed. `backup verify` reports the damage.
    if (manifest === undefined) return;
    manifests.push(manifest);
  }
  const sealers = new Set<string>();
  for await (const { name } of target.list('blobs/')) sealers.add(name.split('/')[1] ?? '');
  for (const digit of digits) {
    const named = await objectsNamedBy(target, manifests, digits.indexOf(digit));
    if (named === undefined) continue;
    for (const sealer of sealers) {
      await removeAll(target, target.list(`blobs/${sealer}/${digit}/`), (name) => !named.has(name));
    }
  }
}

/** Undefined if one of the lists is damaged. */
async function objectsNamedBy(
  target: BackupTarget,
  manifests: readonly Manifest[],
  part: number,
): Promise<ReadonlySet<string> | undefined> {
  const named = new Set<string>();
  for (const { blobs } of manifests) {
    const objects = blobs.parts[part]?.objects;
    const list = objects && (await unlessDamaged(verified(target, objects)));
    if (list === undefined) return undefined;
    for (const object of list.toString('utf8').split('\n')) named.add(object);
  }
  return named;
}

async function unlessDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof BackupError && error.failure === 'damaged') return undefined;
    throw error;
  }
}

async function removeAll(
  target: BackupTarget,
  objects: AsyncIterable<{ readonly name: string }>,
  isUnwanted: (name: string) => boolean,
): Promise<void> {
  let unwanted: string[] = [];
  for await (const { name } of objects) {
    if (!isUnwanted(name)) continue;
    unwanted.push(name);
    if (unwanted.length < removeBatchMax) continue;
    await target.remove(unwanted);
    unwanted = [];
  }
  await target.remove(unwanted);
}
