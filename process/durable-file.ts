import { open } from 'node:fs/promises';

/** Makes a file of mode 0600 that is whole even after a power cut. Rejects if the name is taken. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
