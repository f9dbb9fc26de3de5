/**
 * Makes a connection to one of several NATS servers. The library connects once and never again: `connection.ts` reconnects,
 * because the loss of a connection must not stay hidden.
 */
import { readFileSync } from 'node:fs';
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { type Random, shuffled } from '../../random.ts';
import { natsFrameBytesMax } from './frame.ts';

export interface NatsAccess {
  /** `nats://user:password@host:port` or `tls://…`, tried in random order. */
  readonly servers: readonly string[];
  /** A user JWT with its seed, or a bare seed. Read again for every connection, because it may have been renewed. */
  readonly credentialsFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

export interface NatsServerAddress {
  readonly address: string;
  /** The name or address that its certificate must show. */
  readonly host: string;
  readonly isSecure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** None of the servers could be used. The message contains neither users nor passwords. */
export class DialError extends Error {
  /** A server was reached and rejects this process: retrying will not help soon. */
  readonly isRejection: boolean;
  constructor(message: string, isRejection: boolean) {
    super(message);
    this.isRejection = isRejection;
  }
}

const dialMs = 5_000;

/** @throws DialError, and not the URL's own error, which repeats all of it */
export function serverOf(url: string): NatsServerAddress {
  if (!URL.canParse(url))
    throw new DialError('An address in the list of NATS servers cannot be parsed.', true);
  const { protocol, hostname, port, username, password } = new URL(url);
  return {
    address: `${hostname}:${port || 4_222}`,
    host: hostname.replace(/^\[|\]$/g, ''),
    isSecure: protocol === 'tls:',
    user: username === '' ? undefined : decodeURIComponent(username),
    password: password === '' ? undefined : decodeURIComponent(password),
  };
}

export interface DialOptions {
  readonly access: NatsAccess;
  readonly name: string;
  readonly pingIntervalMs: number;
  readonly random: Random;
}

/** Tries each server once. @throws DialError */
export async function dial(
  servers: readonly NatsServerAddress[],
  options: DialOptions,
): Promise<{ readonly client: NatsConnection; readonly server: NatsServerAddress }> {
  const reasons: string[] = [];
  let isRejection = false;
  for (const server of shuffled(servers, options.random)) {
    try {
      return { client: await dialOne(server, options), server };
    } catch (error) {
      isRejection ||= error instanceof errors.AuthorizationError || error instanceof DialError;
      reasons.push(`${server.address}: ${reasonOf(error)}`);
    }
  }
  throw new DialError(`No NATS server accepts this process (${reasons.join('; ')}).`, isRejection);
}

async function dialOne(server: NatsServerAddress, options: DialOptions): Promise<NatsConnection> {
  const client = await connect({
    servers: [server.address],
    name: options.name,
    reconnect: false,
    // The operator lists the servers. The names that servers use for each other may not be reachable from here.
    ignoreClusterUpdates: true,
    timeout: dialMs,
    pingInterval: options.pingIntervalMs,
    maxPingOut: 2,
    noAsyncTraces: true,
    ...credentialsOf(server, options.access),
    ...tlsOf(server, options.access),
  });
  const bytesMax = client.info?.max_payload ?? 0;
  if (bytesMax >= natsFrameBytesMax) return client;
  await client.close();
  throw new DialError(`it accepts messages of ${bytesMax} bytes, and ${natsFrameBytesMax} are needed`, true);
}

function credentialsOf(
  { user, password }: NatsServerAddress,
  { credentialsFile }: NatsAccess,
): ConnectionOptions {
  if (credentialsFile !== undefined) return { authenticator: fileAuthenticator(credentialsFile) };
  if (user === undefined) return {};
  return password === undefined ? { token: user } : { user, pass: password };
}

function fileAuthenticator(file: string): Authenticator {
  const text = readCredentials(file);
  if (text.includes('NATS USER JWT')) return credsAuthenticator(text);
  const seed = /\bSU[A-Z2-7]{56}\b/.exec(text.toString('latin1'))?.[0];
  if (seed === undefined) throw new DialError('the file of NATS credentials contains none', true);
  return nkeyAuthenticator(Buffer.from(seed));
}

function readCredentials(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new DialError('the file of NATS credentials cannot be read', true);
  }
}

/** TLS if the operator asks for it. Without `tls` here the library still uses it if a server demands it. */
function tlsOf(server: NatsServerAddress, { caFile, certFile, keyFile }: NatsAccess): ConnectionOptions {
  if (!server.isSecure && caFile === undefined && certFile === undefined) return {};
  const files = { ...(caFile && { caFile }), ...(certFile && { certFile }), ...(keyFile && { keyFile }) };
  return { tls: { ...files, host: server.host } as ConnectionOptions['tls'] & object };
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.AuthorizationError) return 'it refuses the credentials';
  if (!(error instanceof Error)) return 'it cannot be reached';
  // The library's own message for a time-out is no help.
  return error instanceof errors.TimeoutError ? 'it does not answer' : error.message;
}
