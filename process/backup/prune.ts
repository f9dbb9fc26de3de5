/**
 * Removes backups from a target: those beyond the number to keep, unfinished ones, and blobs that no kept backup names. So the
 * ciphertext of deleted accounts and files goes with the last backup that has it.
 *
 * The manifest goes first: a crash leaves an unfinished backup, and the next run removes that. Blobs that a backup has copied
 * and not named yet look like those that no backup names any more. So only a run that has just finished a backup removes these. A run
 * that makes room removes what its surplus backups name, and goes on with what an interrupted one has copied.
 */
import { BackupError } from './error.ts';
import { backupsIn, digits, folderOf, type Manifest, manifestOf, readManifest, verified } from './format.ts';
import type { BackupTarget } from './target.ts';

const removeBatchMax = 1_000;

/** Leaves the newest `keep` backups. `unnamed`: blobs that no backup has named. @throws BackupError */
export async function pruneBackups(
  target: BackupTarget,
  keep: number,
  { unnamed }: { readonly unnamed: 'stay' | 'go' },
): Promise<void> {
  const { whole, unfinished } = await backupsIn(target);
  const surplus = whole.slice(0, Math.max(0, whole.length - keep));
  const kept = await manifestsOf(target, whole.slice(surplus.length));
  const ended = unnamed === 'stay' ? intact(await manifestsOf(target, surplus)) : undefined;
  await target.remove(surplus.map(manifestOf));
  // A damaged manifest may have named any blob, so all blobs stay until it is removed. `backup verify` reports the damage.
  if (!kept.includes(undefined)) await pruneBlobs(target, intact(kept), ended);
  for (const id of [...surplus, ...unfinished])
    await removeAll(target, target.list(folderOf(id)), () => true);
}

/** Undefined in place of damaged ones. */
async function manifestsOf(
  target: BackupTarget,
  ids: readonly string[],
): Promise<readonly (Manifest | undefined)[]> {
  const manifests: (Manifest | undefined)[] = [];
  for (const id of ids) manifests.push(await unlessDamaged(readManifest(target, id)));
  return manifests;
}

const intact = (manifests: readonly (Manifest | undefined)[]): readonly Manifest[] =>
  manifests.filter((manifest) => manifest !== undefined);

/** Removes blobs that `kept` do not name. `ended`: only those that these name. */
async function pruneBlobs(
  target: BackupTarget,
  kept: readonly Manifest[],
  ended: readonly Manifest[] | undefined,
): Promise<void> {
  if (ended?.length === 0) return;
  const sealers = new Set<string>();
  for await (const { name } of target.list('blobs/')) sealers.add(name.split('/')[1] ?? '');
  for (const digit of digits) {
    const part = digits.indexOf(digit);
    const named = await objectsNamedBy(target, kept, part);
    const left = ended && (await objectsNamedBy(target, ended, part));
    if (named === undefined || (ended !== undefined && left === undefined)) continue;
    const isUnwanted = (name: string) => !named.has(name) && (left?.has(name) ?? true);
    for (const sealer of sealers) {
      await removeAll(target, target.list(`blobs/${sealer}/${digit}/`), isUnwanted);
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
