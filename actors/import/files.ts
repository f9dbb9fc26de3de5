/**
 * Writes a file as another server had it. Its parts are chunks like any others. The next run of a sweep removes those of attempts
 * that failed.
 */
import { type KeysResult, keys, type Turn, type View } from '../../runtime/command.ts';
import type { FileOwner } from '../files/owner.ts';
import { haveWatched } from '../files/state.ts';
import { file, fileKey, storedFileOf } from '../files/tables.ts';
import { type ClosedFile, putFile } from '../files/uploads.ts';

export const filePlan = (view: View, remoteIdentifier: string) => ({
  files: keys(file, [fileKey(view, remoteIdentifier)]),
});

/** Replaces an earlier file of that name. A repeat changes nothing. */
export function writeFile(
  turn: Turn,
  { cleanup, quota }: FileOwner,
  imported: ClosedFile,
  files: KeysResult<typeof file>,
): void {
  const before = files.get(fileKey(turn, imported.remoteIdentifier));
  if (before?.upload_uuid === imported.uploadUuid) return;
  haveWatched(turn);
  quota.grow(putFile(turn, cleanup, imported, before));
}

export function fileResponse(view: View, remoteIdentifier: string, files: KeysResult<typeof file>) {
  const row = files.get(fileKey(view, remoteIdentifier));
  return { file: row === undefined ? null : storedFileOf(row) };
}
