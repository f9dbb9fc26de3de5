/**
 * Imports files part by part, and never holds a whole file in memory. A file exists once `closeFile` is done. Its content is then
 * compared by its hash. The server sweeps away what a killed attempt has left.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  type ImportCollection,
  type ImportFilePart,
  ImportService,
} from '../../../proto/generated/scriptorium/v1/import.ts';
import { forEachConcurrently, type ImportContext } from '../context.ts';
import type { VaultStates } from '../items.ts';
import type { Population } from '../vaults.ts';
import type { SourceFile, SourceFiles } from './source.ts';

const filesConcurrencyMax = 2;

export async function importFiles(
  context: ImportContext,
  files: SourceFiles,
  population: Population,
  vaults: VaultStates,
): Promise<void> {
  const { report } = context;
  let read = 0;
  await forEachConcurrently(files.list(), filesConcurrencyMax, async (file) => {
    read += 1;
    const owner = ownerOf(file, population, vaults);
    const reason = owner === undefined ? reasonOf(file, population, vaults) : sizeProblemOf(context, file);
    if (owner === undefined || reason !== undefined)
      report.skipped('files', reason ?? 'account-gone', file.name);
    else if (await isReadable(files, file)) await importFile(context, files, file, owner);
    else report.skipped('files', 'unreadable', file.name);
  });
  report.read('files', read);
}

/** Tries to read the beginning of a file. The folder of a container often belongs to another user of the system. */
async function isReadable(files: SourceFiles, file: SourceFile): Promise<boolean> {
  try {
    for await (const _first of await files.read(file)) return true;
    return true;
  } catch {
    return false;
  }
}

export function ownerOf(
  { ownerUuid }: SourceFile,
  { accepted }: Pick<Population, 'accepted'>,
  vaults: VaultStates,
): ImportCollection | undefined {
  const uuid = ownerUuid.toLowerCase();
  if (accepted.has(uuid)) return { isVault: false, uuid };
  return vaults.get(uuid) === 'here' ? { isVault: true, uuid } : undefined;
}

function reasonOf({ ownerUuid }: SourceFile, { refused }: Population, vaults: VaultStates): string {
  const uuid = ownerUuid.toLowerCase();
  return refused.has(uuid) || vaults.has(uuid) ? 'in-use' : 'account-gone';
}

function sizeProblemOf({ limits }: ImportContext, { bytes }: SourceFile): string | undefined {
  if (bytes === 0) return 'empty';
  return bytes > limits.fileBytesMax ? 'too-large' : undefined;
}

async function importFile(
  { target, report, limits, dryRun }: ImportContext,
  files: SourceFiles,
  source: SourceFile,
  owner: ImportCollection,
): Promise<void> {
  const remoteIdentifier = source.name.toLowerCase();
  if (dryRun) {
    report.written('files', 1);
    return;
  }
  const isSameSize = (await target.fileBytes(owner, remoteIdentifier)) === source.bytes;
  if (
    isSameSize &&
    (await target.fileDigest(owner, remoteIdentifier)) === (await fileDigestOf(files, source))
  ) {
    report.unchanged('files', 1);
    return;
  }
  const file = { owner, remoteIdentifier, uploadUuid: randomUUID() };
  const hash = createHash('sha256');
  const parts: ImportFilePart[] = [];
  for await (const content of uploadPartsOf(await files.read(source), limits.filePartBytes)) {
    hash.update(content);
    const nonce = randomBytes(8).toString('hex');
    const part = { number: parts.length + 1, bytes: content.byteLength, nonce };
    await target.ask(ImportService.writeFilePart, { file, part, content });
    parts.push(part);
  }
  await target.ask(ImportService.closeFile, { file, parts });
  const query = { owner, remoteIdentifier, withDigest: true };
  const { sha256 } = await target.ask(ImportService.showFile, query);
  if (sha256 === hash.digest('hex')) report.written('files', 1);
  else report.skipped('files', 'differs', source.name);
}

export async function fileDigestOf(files: SourceFiles, source: SourceFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of await files.read(source)) hash.update(piece);
  return hash.digest('hex');
}

export async function* uploadPartsOf(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    for (let at = 0; at < piece.byteLength; ) {
      const some = piece.subarray(at, at + bytesMax - bytes);
      pending.push(some);
      bytes += some.byteLength;
      at += some.byteLength;
      if (bytes < bytesMax) continue;
      yield Buffer.concat(pending);
      pending = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(pending);
}
