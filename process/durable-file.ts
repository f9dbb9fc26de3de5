import { open } from 'node:fs/promises';

/** Makes a file of mode 0600 that is whole even after a power cut. Rejects if the name is taken. */
export const writeDurably = (path: string, text: string): Promise<void> =>
  writeBytesDurably(path, Buffer.from(`${text}\n`));

/** The same for bytes, as they are. */
export async function writeBytesDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
