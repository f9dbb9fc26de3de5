/** Translates errors of the file system into those of the store. */
import { FileStoreError } from './store.ts';

/** Any other error, such as `EROFS`, `EIO` or `EMFILE`, concerns the system and not this blob. */
export function errorOf(error: unknown): FileStoreError {
  if (error instanceof FileStoreError) return error;
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) return new FileStoreError('full', error);
  return new FileStoreError('unavailable', error);
}

export const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException | undefined)?.code;

/** Ignores errors that say that there is nothing to do. */
export const unless =
  (...codes: readonly string[]) =>
  (error: unknown): undefined => {
    if (!codes.includes(codeOf(error) ?? '')) throw error;
  };
