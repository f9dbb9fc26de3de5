import { displayable, okOf } from './answers.ts';
import type { Application } from './snjs.ts';
import type { FileItem, Upload } from './snjs-files.ts';
import { vaultNamed } from './vaults.ts';

export interface FileView {
  name: string;
  /** The number of its encrypted pieces. */
  chunks: number;
}

/** The most that crypto fills at once. */
const randomBytesMax = 65_536;

/** The files of a device. Their bytes stay in the page; only their hash crosses to the test. */
export class Files {
  readonly #application: () => Application;
  readonly #sent = new Map<string, Upload>();

  constructor(application: () => Application) {
    this.#application = application;
  }

  /** Makes a file of random bytes and uploads it. Resolves to its hash once its item is saved. */
  async upload(name: string, bytes: number, vaultName?: string): Promise<string> {
    const hash = await this.send(name, bytes, vaultName);
    await this.finish(name);
    return hash;
  }

  /** An upload without its end. Resolves to the hash of the sent bytes. */
  async send(name: string, bytes: number, vaultName?: string): Promise<string> {
    const application = this.#application();
    const { files } = application;
    const content = randomBytes(bytes);
    const vault = vaultName === undefined ? undefined : vaultNamed(application, vaultName);
    const upload = displayable(await files.beginNewFileUpload(bytes, vault));
    const step = files.minimumChunkSize();
    for (let start = 0, id = 1; start < bytes; start += step, id += 1) {
      const isLast = start + step >= bytes;
      displayable(await files.pushBytesForUpload(upload, content.subarray(start, start + step), id, isLast));
    }
    this.#sent.set(name, upload);
    return hashOf(content);
  }

  async finish(name: string): Promise<void> {
    const { files, sync } = this.#application();
    const upload = this.#sent.get(name);
    if (upload === undefined) throw new Error(`Nothing was sent of ${name}.`);
    const kind = { name, mimeType: 'application/octet-stream' };
    displayable(await files.finishUpload(upload, kind, crypto.randomUUID()));
    await sync.sync({ awaitAll: true, checkIntegrity: false });
  }

  async moveIn(vaultName: string, name: string): Promise<void> {
    const application = this.#application();
    const vault = vaultNamed(application, vaultName);
    okOf(await application.vaults.moveItemToVault(vault, this.#file(name)));
  }

  /** Resolves to the hash of the downloaded and decrypted bytes. */
  async download(name: string): Promise<string> {
    const parts: Uint8Array[] = [];
    const file = this.#file(name);
    displayable(await this.#application().files.downloadFile(file, async (bytes) => void parts.push(bytes)));
    return hashOf(new Uint8Array(await new Blob(parts).arrayBuffer()));
  }

  async delete(name: string): Promise<void> {
    displayable(await this.#application().files.deleteFile(this.#file(name)));
  }

  list(): FileView[] {
    return this.#items()
      .map(({ name, encryptedChunkSizes }) => ({ name, chunks: encryptedChunkSizes.length }))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  #file(name: string): FileItem {
    const file = this.#items().find((item) => item.name === name);
    if (file === undefined) throw new Error(`There is no file ${name}.`);
    return file;
  }

  #items(): FileItem[] {
    return this.#application().items.getItems<FileItem>('SN|File');
  }
}

function randomBytes(bytes: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes);
  for (let start = 0; start < bytes; start += randomBytesMax) {
    crypto.getRandomValues(all.subarray(start, start + randomBytesMax));
  }
  return all;
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
