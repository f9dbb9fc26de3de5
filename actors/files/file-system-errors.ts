/** What errors of the file system mean to the store of files. */
import { FileStoreError } from './store.ts';

/** Whatever else the system says, such as `EROFS`, `EIO` or `EMFILE`, is not about this blob. */
export function errorOf(error: unknown): FileStoreError {
  if (error instanceof FileStoreError) return error;
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) return new FileStoreError('full', error);
  return new FileStoreError('unavailable', error);
}

export const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException | undefined)?.code;

/** Undefined for those errors of the system that say that there is nothing to do. */
export const unless =
  (...codes: readonly string[]) =>
  (error: unknown): undefined => {
    if (!codes.includes(codeOf(error) ?? '')) throw error;
  };
