/** Files as clients use them: a valet token, a session of upload with chunks, and downloads by ranges. */
import { randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type Account, headerSessions } from './api-client.ts';

/** A client's chunk: 5 MB and the overhead of encryption. */
export const chunkBytes = 5_000_017;
const addedBytes = 17;
const base = '/v1/files';
const retryMs = 100;

export class FileClient {
  readonly #url: string;
  readonly #account: Account;
  /** One connection each, because the bytes of a file go one after the other. */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #file = randomUUID();
  #chunks = 0;
  /** Chunks that the server refused for the moment, and that the client sent again. */
  refused = 0;

  constructor(url: string, account: Account) {
    this.#url = url;
    this.#account = account;
  }

  async upload(chunk: Buffer, chunks: number): Promise<void> {
    const token = await this.#token('write', chunks * (chunk.length - addedBytes));
    await this.#do('POST', '/upload/create-session', { 'x-valet-token': token });
    for (let number = 1; number <= chunks; number += 1) {
      const headers = {
        'x-valet-token': token,
        'x-chunk-id': String(number),
        'content-type': 'application/octet-stream',
      };
      while (!(await this.#store(headers, chunk))) this.refused += 1;
    }
    await this.#do('POST', '/upload/close-session', { 'x-valet-token': token });
    this.#chunks = chunks;
  }

  /** Chunk by chunk. */
  async download(): Promise<void> {
    const token = await this.#token('read');
    for (let number = 0; number < this.#chunks; number += 1) {
      const bytes = await this.#range(token, number * chunkBytes, chunkBytes, (reply) => counted(reply));
      if (bytes !== chunkBytes) throw new Error(`read ${bytes} bytes of a chunk`);
    }
  }

  /** Reads one range at this many bytes in each tenth of a second until `until` says so, and returns the total. */
  async readSlowly(rangeBytes: number, bytesInTenth: number, until: () => boolean): Promise<number> {
    const token = await this.#token('read');
    return this.#range(token, 0, rangeBytes, (reply) => takenSlowly(reply, bytesInTenth, until));
  }

  async remove(): Promise<void> {
    await this.#do('DELETE', '', { 'x-valet-token': await this.#token('delete') });
  }

  close(): void {
    this.#agent.destroy();
  }

  async #token(operation: 'read' | 'write' | 'delete', unencryptedFileSize = 0): Promise<string> {
    const resources = [{ remoteIdentifier: this.#file, unencryptedFileSize }];
    const body = Buffer.from(JSON.stringify({ api: headerSessions, operation, resources }));
    const headers = {
      authorization: `Bearer ${this.#account.accessToken}`,
      'content-type': 'application/json',
    };
    const answer = JSON.parse(await this.#do('POST', '/valet-tokens', headers, body));
    return (answer as { data: { valetToken: string } }).data.valetToken;
  }

  /** False if it can be sent again. */
  #store(headers: Record<string, string>, chunk: Buffer): Promise<boolean> {
    return this.#call('POST', '/upload/chunk', headers, chunk, async (reply) => {
      const text = await textOf(reply);
      if (reply.statusCode === 200) return true;
      if (reply.statusCode !== 503) throw new Error(`a chunk was answered ${reply.statusCode}: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      return false;
    });
  }

  #do(method: string, path: string, headers: Record<string, string>, body?: Buffer): Promise<string> {
    return this.#call(method, path, headers, body, async (reply) => {
      const text = await textOf(reply);
      if (reply.statusCode !== 200) throw new Error(`${path} answered ${reply.statusCode}: ${text}`);
      return text;
    });
  }

  #range<T>(
    token: string,
    start: number,
    bytes: number,
    read: (reply: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const headers = {
      'x-valet-token': token,
      'x-chunk-size': String(bytes),
      range: `bytes=${start}-`,
    };
    return this.#call('GET', '', headers, undefined, async (reply) => {
      if (reply.statusCode !== 206) throw new Error(`a range was answered ${reply.statusCode}`);
      return read(reply);
    });
  }

  #call<T>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Buffer | undefined,
    read: (reply: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const options = {
        method,
        headers: { ...headers, 'content-length': String(body?.length ?? 0) },
        agent: this.#agent,
      };
      const sent = request(new URL(base + path, this.#url), options, (reply) => {
        read(reply).then(resolve, reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

async function textOf(reply: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of reply) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function counted(reply: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const part of reply) bytes += (part as Buffer).length;
  return bytes;
}

async function takenSlowly(
  reply: IncomingMessage,
  bytesInTenth: number,
  until: () => boolean,
): Promise<number> {
  let receivedBytes = 0;
  let inTenth = 0;
  for await (const part of reply) {
    const { length } = part as Buffer;
    receivedBytes += length;
    inTenth += length;
    if (inTenth < bytesInTenth) continue;
    inTenth = 0;
    if (until()) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return receivedBytes;
}
