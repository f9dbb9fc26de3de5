/**
 * The files of users in a backup. The database names the blobs, and each is copied once: the target shows which are there.
 *
 * The server removes a blob soon after the commit that stops naming it. So a backup copies twice: all blobs that are named before
 * the snapshot is taken, then in the snapshot those that came meanwhile. If the snapshot names a blob that has gone since, and the
 * database no longer does, another snapshot is taken.
 */
import type pg from 'pg';
import { blobName, chunksIn } from '../../actors/files/layout.ts';
import { FileStoreError } from '../../actors/files/store.ts';
import { blobOriginOf, file } from '../../actors/files/tables.ts';
import { BackupError } from './error.ts';
import {
  type BackedUpBlob,
  blobFolder,
  blobObject,
  folderOf,
  hashesIn,
  type ManifestObject,
  sha256,
  textOfLines,
  zip,
} from './format.ts';
import { pagesOf } from './rows.ts';
import type { Sealer } from './sealing.ts';
import type { BackupTarget } from './target.ts';

/** Where the files of users lie. A blob is 64 MiB at most. */
export interface BlobSource {
  /** @throws FileStoreError */
  read(name: string, bytes: number): Promise<Uint8Array>;
}

interface NamedBlob {
  readonly name: string;
  readonly bytes: number;
}

const table = { name: file.name, columns: file.columns, primaryKey: file.key };
const columns = Object.keys(file.columns);
const positionOf = (column: keyof typeof file.columns): number => columns.indexOf(column);
const layoutAt = positionOf('layout');
const storedUnderAt = positionOf('stored_under');
const uploadAt = positionOf('upload_uuid');

/** The blobs that the rows name, as this connection sees the rows. */
export async function* namedBlobs(client: pg.ClientBase): AsyncGenerator<NamedBlob> {
  for await (const page of pagesOf(client, table)) {
    for (const row of page) {
      const origin = blobOriginOf({
        stored_under: String(row[storedUnderAt]),
        upload_uuid: String(row[uploadAt]),
      });
      for (const chunk of chunksIn(Buffer.from(String(row[layoutAt]), 'base64'))) {
        yield { name: blobName(origin, chunk), bytes: chunk.bytes };
      }
    }
  }
}

export interface Copying {
  readonly client: pg.ClientBase;
  readonly source: BlobSource;
  readonly target: BackupTarget;
  readonly sealer: Sealer;
  /** Called for each blob that was written. */
  onCopied(bytes: number): void;
}

export interface CopiedPart {
  readonly blobs: readonly BackedUpBlob[];
  /** Names of blobs that the store of files does not have. */
  readonly missing: readonly string[];
}

/** Copies what the target lacks of one part, and tells where each blob is. @throws BackupError */
export async function copyPart(copying: Copying, digit: string): Promise<CopiedPart> {
  const present = await objectsInTarget(copying, digit);
  const blobs = new Map<string, BackedUpBlob>();
  const missing: string[] = [];
  for await (const { name, bytes } of namedBlobs(copying.client)) {
    const hash = sha256(name);
    if (hash.charAt(0) !== digit || blobs.has(name)) continue;
    const object = present.get(hash) ?? (await copyBlob(copying, hash, { name, bytes }));
    if (object === undefined) missing.push(name);
    else blobs.set(name, { name, bytes, object });
  }
  return { blobs: [...blobs.values()], missing };
}

async function objectsInTarget(
  { target, sealer }: Copying,
  digit: string,
): Promise<ReadonlyMap<string, string>> {
  const present = new Map<string, string>();
  for await (const { name } of target.list(blobFolder(sealer.id, digit))) {
    const hashes = hashesIn(name);
    if (hashes !== undefined) present.set(hashes.name, name);
  }
  return present;
}

/** Undefined if the store of files does not have it. */
async function copyBlob(
  { source, target, sealer, onCopied }: Copying,
  hash: string,
  { name, bytes }: NamedBlob,
): Promise<string | undefined> {
  const content = await readBlob(source, name, bytes);
  if (content === undefined) return undefined;
  const stored = await sealer.seal(content);
  const object = blobObject(sealer.id, hash, stored);
  await target.put(object, stored);
  onCopied(bytes);
  return object;
}

async function readBlob(source: BlobSource, name: string, bytes: number): Promise<Uint8Array | undefined> {
  try {
    const content = await source.read(name, bytes);
    return content.byteLength === bytes ? content : undefined;
  } catch (error) {
    if (error instanceof FileStoreError && error.failure === 'missing') return undefined;
    throw BackupError.unavailable('The files of users cannot be read: see FILES_STORE.', error);
  }
}

/** Those of these blobs that the database names now. */
export async function stillNamed(
  client: pg.ClientBase,
  names: ReadonlySet<string>,
): Promise<readonly string[]> {
  if (names.size === 0) return [];
  const named: string[] = [];
  for await (const { name } of namedBlobs(client)) if (names.has(name)) named.push(name);
  return named;
}

/** Writes the two lists of a part. */
export async function writePart(
  { target, sealer }: Pick<Copying, 'target' | 'sealer'>,
  {
    id,
    digit,
    blobs,
  }: { readonly id: string; readonly digit: string; readonly blobs: readonly BackedUpBlob[] },
): Promise<{ readonly list: ManifestObject; readonly objects: ManifestObject }> {
  const lines = blobs.map(({ name, bytes, object }) => JSON.stringify([name, bytes, object]));
  const list = await sealer.seal(await zip(textOfLines(lines)));
  const objects = Buffer.from(textOfLines(blobs.map(({ object }) => object)));
  return {
    list: await written(target, `${folderOf(id)}blobs-${digit}`, list),
    objects: await written(target, `${folderOf(id)}objects-${digit}`, objects),
  };
}

export async function written(
  target: BackupTarget,
  name: string,
  bytes: Uint8Array,
): Promise<ManifestObject> {
  await target.put(name, bytes);
  return { name, bytes: bytes.byteLength, sha256: sha256(bytes) };
}
