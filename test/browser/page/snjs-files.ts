import type { Displayable, Item } from './snjs-answers.ts';
import type { Vault } from './snjs-vaults.ts';

/** The part of the library's file service that these tests use. */
export interface FileService {
  /** The smallest piece that it encrypts and sends at once, except at the end of a file. */
  minimumChunkSize(): number;
  /** An upload to a vault if one is given, else to the account. */
  beginNewFileUpload(bytes: number, vault?: Vault): Promise<Upload | Displayable>;
  /** Chunks are counted from 1. */
  pushBytesForUpload(
    upload: Upload,
    bytes: Uint8Array,
    chunkId: number,
    isLast: boolean,
  ): Promise<Displayable | undefined>;
  finishUpload(
    upload: Upload,
    file: { name: string; mimeType: string },
    uuid: string,
  ): Promise<FileItem | Displayable>;
  downloadFile(
    file: FileItem,
    onDecrypted: (bytes: Uint8Array) => Promise<void>,
  ): Promise<Displayable | undefined>;
  deleteFile(file: FileItem): Promise<Displayable | undefined>;
}

/** Only the service reads it. */
export type Upload = object;

export interface FileItem extends Item {
  name: string;
  encryptedChunkSizes: number[];
}
