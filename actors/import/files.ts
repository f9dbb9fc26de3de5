/** A file as another server had it: its parts are chunks like any others. The next run of a sweep removes those of attempts that failed. */
import { type KeysResult, keys, type Turn, type View } from '../../runtime/command.ts';
import { discardFile } from '../files/garbage.ts';
import { change, filesSlice } from '../files/ledger.ts';
import type { Owner } from '../files/owner.ts';
import { file } from '../files/tables.ts';
import { haveWatched } from '../files/watched.ts';

export interface ImportedFile {
  readonly remoteIdentifier: string;
  readonly uploadUuid: string;
  readonly bytes: number;
  readonly layout: Uint8Array;
}

export const filePlan = (view: View, remoteIdentifier: string) => ({
  files: keys(file, [{ owner_uuid: view.self.id, remote_identifier: remoteIdentifier }]),
});

/** An earlier one of that name goes. A repeat changes nothing. */
export function writeFile(
  turn: Turn,
  { cleanup, quota }: Owner,
  { remoteIdentifier, uploadUuid, bytes, layout }: ImportedFile,
  files: KeysResult<typeof file>,
): void {
  const owner_uuid = turn.self.id;
  const before = files.get({ owner_uuid, remote_identifier: remoteIdentifier });
  if (before?.upload_uuid === uploadUuid) return;
  haveWatched(turn);
  const sequence = turn.get(filesSlice).sequence + 1;
  turn.put(file, {
    owner_uuid,
    remote_identifier: remoteIdentifier,
    sequence,
    upload_uuid: uploadUuid,
    hop: 0,
    stored_under: owner_uuid,
    bytes,
    layout: Buffer.from(layout),
    closed_at: turn.nowMs,
  });
  change(turn, { sequence });
  if (before !== undefined) discardFile(turn, cleanup, before);
  quota.grow(bytes - (before?.bytes ?? 0));
}

export function shownFile(view: View, remoteIdentifier: string, files: KeysResult<typeof file>) {
  const row = files.get({ owner_uuid: view.self.id, remote_identifier: remoteIdentifier });
  if (row === undefined) return { file: null };
  const { upload_uuid: uploadUuid, stored_under: storedUnder, bytes, layout } = row;
  return { file: { uploadUuid, storedUnder, bytes, layout } };
}
