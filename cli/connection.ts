/** One connection to the internal API of one node; every node answers for the whole cluster. */
import { basename, relative, resolve } from 'node:path';
import { ChannelCredentials, Client, logVerbosity, Metadata, setLogVerbosity } from '@grpc/grpc-js';
import { CommandFailure, commandFailureOf, isServiceError } from './failure.ts';
import { readInputFile } from './input-file.ts';

export interface ConnectionOptions {
  /** `host:port`, or `unix:` and the path of a socket. */
  readonly address: string;
  /** A file with the token of the internal API. */
  readonly token?: string | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name in the server's certificate, if it is not the host of `address`. */
  readonly serverName?: string | undefined;
  readonly deadlineMs: number;
  nowMs(): number;
}

/** A method of a generated service definition. */
export interface RpcMethod<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

// Otherwise the library also writes to standard error what its errors say.
setLogVerbosity(logVerbosity.NONE);

/** Bytes of one answer, at most. The largest answer is a piece of an export that holds one large item. */
const answerBytesMax = 68 * 1_048_576;

export class ApiConnection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  readonly #metadata: Metadata;

  /** @throws CommandFailure */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#metadata = metadataOf(options);
    this.#client = new Client(targetOf(options.address), credentialsOf(options), {
      // Nodes are reached directly, never through a web proxy.
      'grpc.enable_http_proxy': 0,
      'grpc.max_receive_message_length': answerBytesMax,
      ...(options.serverName !== undefined && { 'grpc.ssl_target_name_override': options.serverName }),
    });
  }

  /** Waits for the answer as long as the options say, and at least `leastMs`. @throws CommandFailure */
  ask<Request, Response>(
    method: RpcMethod<Request, Response>,
    request: Request,
    leastMs = 0,
  ): Promise<Response> {
    const { address } = this.#options;
    const deadlineMs = Math.max(this.#options.deadlineMs, leastMs);
    const deadline = new Date(this.#options.nowMs() + deadlineMs);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        this.#metadata,
        { deadline },
        (error, response) => {
          if (error !== null) {
            reject(isServiceError(error) ? commandFailureOf(error, address, deadlineMs) : error);
          } else if (response === undefined) {
            reject(CommandFailure.unavailable(`${address} gave no answer.`));
          } else {
            resolve(response);
          }
        },
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** The longest path that fits a socket address on all systems. */
const socketPathBytesMax = 103;

/** The address as the gRPC library expects it. @throws CommandFailure */
function targetOf(address: string): string {
  const [, path] = /^unix:(.+)$/.exec(address) ?? [];
  if (path === undefined) {
    if (/^.+:\d{1,5}$/.test(address)) return address;
    throw CommandFailure.usage(`--address ${address} is neither host:port nor unix:file.`);
  }
  const fitting = [resolve(path), relative('.', path)].find(
    (each) => Buffer.byteLength(each) <= socketPathBytesMax,
  );
  if (fitting !== undefined) return `unix:${fitting}`;
  throw CommandFailure.usage(
    `${path} is too long for a socket address: go to its folder, and use --address unix:${basename(path)}.`,
  );
}

/** A call over the socket needs no token. */
function metadataOf({ address, token }: ConnectionOptions): Metadata {
  const metadata = new Metadata();
  if (token === undefined || address.startsWith('unix:')) return metadata;
  metadata.set('authorization', `Bearer ${readInputFile(token, '--token').toString('latin1').trim()}`);
  return metadata;
}

function credentialsOf({ ca, cert, key }: ConnectionOptions): ChannelCredentials {
  if ((cert === undefined) !== (key === undefined)) {
    throw CommandFailure.usage('--cert and --key must be given together.');
  }
  if (ca === undefined && cert === undefined) return ChannelCredentials.createInsecure();
  try {
    return ChannelCredentials.createSsl(pem('--ca', ca), pem('--key', key), pem('--cert', cert));
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw CommandFailure.usage('--ca, --cert and --key do not hold certificates and their key.');
  }
}

function pem(option: string, path: string | undefined): Buffer | null {
  if (path === undefined) return null;
  const bytes = readInputFile(path, option);
  if (!bytes.includes('-----BEGIN ')) throw CommandFailure.usage(`${option} ${path} is not in PEM form.`);
  return bytes;
}
