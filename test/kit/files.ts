/** A client's use of files: tokens from the server, bytes to and from the files server. */
import { randomBytes } from 'node:crypto';
import type { Device } from './device.ts';
import type { Answer } from './http.ts';

type Operation = 'read' | 'write' | 'delete' | 'move';

/** Ciphertext of this length. */
export const ciphertext = (bytes: number): Buffer => randomBytes(bytes);

export interface FileAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The length as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at as a client would
  readonly body: any;
}

export interface FileCall {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestInit['body'];
}

const base = '/v1/files';

export async function fileCall(
  url: string,
  method: string,
  path: string,
  token: string,
  { headers = {}, body }: FileCall = {},
): Promise<FileAnswer> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-valet-token': token, ...headers },
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: answer.status,
    headers: answer.headers,
    bytes,
    body: isJson ? JSON.parse(bytes.toString()) : undefined,
  };
}

/** One file, as a device handles it. */
export class RemoteFile {
  readonly device: Device;
  readonly remoteIdentifier: string;
  readonly base: string = base;

  constructor(device: Device, remoteIdentifier: string = crypto.randomUUID()) {
    this.device = device;
    this.remoteIdentifier = remoteIdentifier;
  }

  /** The same file on another device. */
  on(device: Device): RemoteFile {
    return new RemoteFile(device, this.remoteIdentifier);
  }

  askForToken(operation: Operation, unencryptedFileSize: number | undefined = 0): Promise<Answer> {
    const resources = [{ remoteIdentifier: this.remoteIdentifier, unencryptedFileSize }];
    return this.device.call('POST', `${base}/valet-tokens`, { body: { operation, resources } });
  }

  /** @throws Error if it is refused */
  async token(operation: Operation, unencryptedFileSize?: number): Promise<string> {
    const answer = await this.askForToken(operation, unencryptedFileSize);
    if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${answer.text}`);
    return answer.body.valetToken;
  }

  call(method: string, path: string, token: string, call?: FileCall): Promise<FileAnswer> {
    return fileCall(this.device.server.url, method, this.base + path, token, call);
  }

  open = (token: string) => this.call('POST', '/upload/create-session', token);

  chunk = (token: string, number: number | string, body: Uint8Array) =>
    this.call('POST', '/upload/chunk', token, {
      headers: { 'x-chunk-id': String(number), 'content-type': 'application/octet-stream' },
      body: body as Uint8Array<ArrayBuffer>,
    });

  close = (token: string) => this.call('POST', '/upload/close-session', token);

  /** All of it, as clients do. @throws Error if any of it is refused */
  async upload(...chunks: readonly Uint8Array[]): Promise<void> {
    const token = await this.uploadAllBut(...chunks);
    accepted(await this.close(token));
  }

  /** The token of an upload that only needs closing. @throws Error if any of it is refused */
  async uploadAllBut(...chunks: readonly Uint8Array[]): Promise<string> {
    const bytes = chunks.reduce((sum, { byteLength }) => sum + byteLength - 17, 0);
    const token = await this.token('write', Math.max(0, bytes));
    accepted(await this.open(token));
    for (const [index, chunk] of chunks.entries()) accepted(await this.chunk(token, index + 1, chunk));
    return token;
  }

  read(token: string, range: string, chunkSize?: number): Promise<FileAnswer> {
    return this.call('GET', '', token, {
      headers: { range, ...(chunkSize !== undefined && { 'x-chunk-size': String(chunkSize) }) },
    });
  }

  /** Like clients, who know how long the chunks are. @throws Error if any of it is refused */
  async download(...chunkBytes: readonly number[]): Promise<Buffer> {
    const token = await this.token('read');
    const parts: Buffer[] = [];
    let start = 0;
    for (const bytes of chunkBytes) {
      const answer = await this.read(token, `bytes=${start}-`, bytes);
      if (answer.status !== 206) throw new Error(`not read: ${answer.status} ${answer.bytes}`);
      parts.push(answer.bytes);
      start += bytes;
    }
    return Buffer.concat(parts);
  }

  async remove(): Promise<FileAnswer> {
    return this.call('DELETE', '', await this.token('delete'));
  }
}

/** One file of a shared vault. */
export class VaultFile extends RemoteFile {
  override readonly base = '/v1/shared-vault/files';
  readonly vault: string;

  constructor(device: Device, vault: string, remoteIdentifier?: string) {
    super(device, remoteIdentifier);
    this.vault = vault;
  }

  override on(device: Device): VaultFile {
    return new VaultFile(device, this.vault, this.remoteIdentifier);
  }

  override askForToken(
    operation: Operation,
    unencrypted_file_size: number | undefined = 0,
    more: object = {},
  ): Promise<Answer> {
    const body = { remote_identifier: this.remoteIdentifier, operation, unencrypted_file_size, ...more };
    return this.device.call('POST', `/v1/shared-vaults/${this.vault}/valet-tokens`, { body });
  }
}

export function accepted(answer: FileAnswer): FileAnswer {
  if (answer.status !== 200) throw new Error(`refused with ${answer.status}: ${answer.bytes}`);
  return answer;
}

/** The quota that clients read: used and limit. */
export async function usedBytes(device: Device): Promise<number> {
  const path = `/v1/users/${device.account.userUuid}/subscription-settings/FILE_UPLOAD_BYTES_USED`;
  return Number((await device.call('GET', path)).body.setting.value);
}
