/**
 * The format of a backup, version 1. In the target:
 *
 *     backups/<id>/rows-00001     rows of one table, a line each (`rows.ts`), gzip, sealed (`sealing.ts`)
 *     backups/<id>/blobs-0…f      a line for each blob of the files of users: its name, bytes and object; gzip, sealed
 *     backups/<id>/objects-0…f    the objects of those blobs, a name each line; never sealed, because pruning has no key
 *     backups/<id>/manifest.json  written last; a folder without one is no backup
 *     blobs/<sealer>/<0…f>/<hash of the blob's name>.<hash of the object>
 *
 * Blobs never change. So a backup does not write a blob again that an earlier one has written to the same recipients. Blobs are
 * divided into sixteen parts by the first digit of the hash of their name, because a part fits into memory.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import { BackupError } from './error.ts';
import type { Opener } from './sealing.ts';
import type { BackupTarget } from './target.ts';

const formatNumber = 1;
export const digits = [...'0123456789abcdef'];

const sha256Form = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().nonnegative();
const objectForm = z.object({ name: z.string(), bytes: count, sha256: sha256Form });

const manifestForm = z.object({
  format: z.literal(formatNumber),
  id: z.string(),
  takenAt: z.string(),
  release: z.string(),
  sealer: z.string(),
  /** Tells whether a secret key is that of the database, and reveals nothing else about the key. */
  secretKeyFingerprint: z.string().nullable(),
  migrations: z.array(z.string()),
  tables: z.array(
    z.object({
      name: z.string(),
      columns: z.record(z.string(), z.string()),
      rows: count,
      digest: sha256Form,
    }),
  ),
  rows: z.array(objectForm.extend({ table: z.string(), rows: count })),
  blobs: z.object({
    count,
    bytes: count,
    parts: z.array(z.object({ list: objectForm, objects: objectForm })),
    /** Those that the store of files did not have, although the database named them. */
    missing: z.array(z.string()),
  }),
});

export type Manifest = z.infer<typeof manifestForm>;
export type ManifestObject = z.infer<typeof objectForm>;

/** A blob of the files of users, and the object that holds it. */
export interface BackedUpBlob {
  readonly name: string;
  readonly bytes: number;
  readonly object: string;
}

const idForm = /^\d{8}T\d{9}Z-[0-9a-f]{8}$/;
const isBackupId = (text: string): boolean => idForm.test(text);

/** Ids sort by time. */
export const backupId = (nowMs: number, random: Buffer): string =>
  `${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, '')}-${random.toString('hex')}`;

export const folderOf = (id: string): string => `backups/${id}/`;
export const manifestOf = (id: string): string => `${folderOf(id)}manifest.json`;

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

export const zip = promisify(gzip);
const unzip = promisify(gunzip);

const objectName = /^blobs\/[0-9a-z]+\/[0-9a-f]\/([0-9a-f]{64})\.([0-9a-f]{64})$/;

/** The hash of the blob's name and that of the object's bytes. Undefined for an object that is none of ours. */
export function hashesIn(object: string): { readonly name: string; readonly stored: string } | undefined {
  const [, name, stored] = objectName.exec(object) ?? [];
  return name === undefined || stored === undefined ? undefined : { name, stored };
}

export const blobFolder = (sealer: string, digit: string): string => `blobs/${sealer}/${digit}/`;

export const blobObject = (sealer: string, hashOfName: string, stored: Uint8Array): string =>
  `${blobFolder(sealer, hashOfName.charAt(0))}${hashOfName}.${sha256(stored)}`;

/** The object as it was written. @throws BackupError `damaged` */
export async function verified(
  target: BackupTarget,
  { name, sha256: expected }: ManifestObject,
): Promise<Buffer> {
  const bytes = await target.get(name);
  if (sha256(bytes) === expected) return bytes;
  throw BackupError.damaged(`${name} is not what the backup has written: its hash differs.`);
}

/** The lines of an object that was zipped and sealed. @throws BackupError */
export async function linesOf(
  target: BackupTarget,
  object: ManifestObject,
  { sealer, opener }: { readonly sealer: string; readonly opener: Opener },
): Promise<readonly string[]> {
  const text = (await unzip(await opener.open(sealer, await verified(target, object)))).toString('utf8');
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

export const textOfLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

export function blobIn(line: string): BackedUpBlob {
  const [name, bytes, object] = JSON.parse(line) as [string, number, string];
  return { name, bytes, object };
}

/** @throws BackupError */
export async function readManifest(target: BackupTarget, id: string): Promise<Manifest> {
  const bytes = await target.get(manifestOf(id));
  const [hash, text] = splitManifest(bytes.toString('utf8'));
  if (hash !== sha256(text)) {
    throw BackupError.damaged(`The manifest of ${id} is not what the backup has written: its hash differs.`);
  }
  const document: unknown = JSON.parse(text);
  const { format } = z.object({ format: z.number() }).parse(document);
  if (format !== formatNumber) {
    throw BackupError.refused(`${id} is of format ${format}: restore it with the release that wrote it.`);
  }
  return manifestForm.parse(document);
}

/** The first line is the hash of all that follows. */
export function manifestBytes(manifest: Manifest): Buffer {
  const text = JSON.stringify(manifest, null, 1);
  return Buffer.from(`${sha256(text)}\n${text}`);
}

function splitManifest(text: string): readonly [string, string] {
  const end = text.indexOf('\n');
  return [text.slice(0, Math.max(end, 0)), text.slice(end + 1)];
}

/** The ids of all backups that are whole, the newest last, and of those that were never finished. */
export async function backupsIn(
  target: BackupTarget,
): Promise<{ readonly whole: readonly string[]; readonly unfinished: readonly string[] }> {
  const ids = new Map<string, boolean>();
  for await (const { name } of target.list('backups/')) {
    const [, id = '', file] = name.split('/');
    if (!isBackupId(id)) continue;
    ids.set(id, ids.get(id) === true || file === 'manifest.json');
  }
  const sorted = [...ids.keys()].toSorted();
  return {
    whole: sorted.filter((id) => ids.get(id) === true),
    unfinished: sorted.filter((id) => ids.get(id) !== true),
  };
}
