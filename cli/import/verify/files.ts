/** Compares files by their hashes. */
import { forEachConcurrently, type ImportContext } from '../context.ts';
import { fileDigestOf, ownerOf } from '../files/import.ts';
import type { SourceFiles } from '../files/source.ts';
import type { VaultStates } from '../items.ts';
import type { Population } from '../vaults.ts';
import { type Compared, differ } from './compared.ts';

const filesConcurrencyMax = 2;

export async function compareFiles(
  { target }: ImportContext,
  compared: Compared,
  files: SourceFiles,
  owners: Pick<Population, 'accepted'> & { readonly vaults: VaultStates },
): Promise<void> {
  await forEachConcurrently(files.list(), filesConcurrencyMax, async (file) => {
    const owner = ownerOf(file, owners, owners.vaults);
    if (owner === undefined || file.bytes === 0) return;
    compared.files += 1;
    const expected = await fileDigestOf(files, file);
    const sha256 = await target.fileDigest(owner, file.name.toLowerCase());
    if (sha256 === undefined) differ(compared, { what: 'file', uuid: file.name, why: 'missing' });
    else if (sha256 !== expected) differ(compared, { what: 'file', uuid: file.name, why: 'differs' });
  });
}
