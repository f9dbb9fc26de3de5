import type { Displayable, Item } from './snjs-answers.ts';
import type { Vault } from './snjs-vaults.ts';

/** The part of the library's file service that these tests use. */
export interface FileService {
  /** The least that it encrypts and sends at once, but for the end of a file. */
  minimumChunkSize(): number;
  /** An upload to a vault where there is one, else to the account. */
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

/** Nothing but the service reads it. */
export type Upload = object;

export interface FileItem extends Item {
  name: string;
  encryptedChunkSizes: number[];
}
