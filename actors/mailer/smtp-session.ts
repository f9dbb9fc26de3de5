/**
 * A session with a relay (RFC 5321, 3), by nodemailer: one connection, on which mails go one after another.
 *
 *     connect -> TLS -> sign in -> mail, mail, ... -> quit
 *
 * - A relay gets plain text only if it is on this machine or its `security` is `none`. A relay that stops offering TLS gets nothing.
 * - A password is sent in plain text only to this machine, or if that is allowed as well (`plaintextCredentials`).
 * - Certificates are verified for every host but this machine.
 * - Any failure ends a session, so that none is used again in an unknown state.
 * - A session is kept for a moment after a mail, because several mails often follow each other. It carries a limited number of mails.
 */
import { connect, type LookupFunction, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Clock } from '../../runtime/clock.ts';
import { exposesPassword, isLoopbackHost, type SmtpRelay } from './relays.ts';

export interface SessionOptions {
  readonly clock: Clock;
  readonly lookup?: LookupFunction;
  /** Certificates to trust instead of the well-known ones. */
  readonly ca?: string;
}

/** The time to connect and be greeted. A relay that takes longer counts as away. */
const connectTimeoutMs = 20_000;
/** Bytes of one reply of a relay, at most. */
const replyBytesMax = 16_384;
/** Shorter than any relay waits for the next mail. */
const idleMs = 2_000;
/** Relays that limit the mails of a session allow at least this many. */
const mailsMax = 100;

export class TimedOut extends Error {}

interface SmtpEnvelope {
  readonly from: string;
  readonly to: string[];
  readonly size: number;
}

export class SmtpSession {
  /** The relay, and the user that was signed in to it. */
  readonly name: string;
  readonly #socket: Socket;
  readonly #connection: SMTPConnection;
  /** Rejects with the end of the connection. */
  readonly #broken: Promise<never>;
  #isBroken = false;
  #mails = 0;

  constructor(name: string, socket: Socket, connection: SMTPConnection) {
    this.name = name;
    this.#socket = socket;
    this.#connection = connection;
    this.#broken = new Promise<never>((_, reject) => {
      connection.on('error', reject);
      // Nodemailer reports the last words of the relay right after the end of the connection, and these say more.
      connection.on('end', () =>
        queueMicrotask(() => reject(new Error('the relay has closed the connection'))),
      );
    });
    // A promise that nothing awaits any more may still reject.
    this.#broken.catch(() => {
      this.#isBroken = true;
    });
  }

  get isUsable(): boolean {
    return !this.#isBroken && this.#mails < mailsMax;
  }

  async begin({ username }: SmtpRelay, credential: string | undefined, signal: AbortSignal): Promise<void> {
    await this.#unlessBroken(signal, (over) => this.#connection.connect((error) => over(error ?? null)));
    if (username === null) return;
    const auth = { user: username, pass: credential ?? '' };
    await this.#unlessBroken(signal, (over) => this.#connection.login(auth, over));
  }

  async send(envelope: SmtpEnvelope, message: Readable, signal: AbortSignal): Promise<void> {
    this.#mails += 1;
    await this.#unlessBroken(signal, (over) => this.#connection.send(envelope, message, over));
  }

  /** Whether it keeps the process alive. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#socket.ref();
    else this.#socket.unref();
  }

  quit(): void {
    this.#connection.quit();
    this.#connection.close();
  }

  async #unlessBroken(signal: AbortSignal, begin: (over: Callback) => void): Promise<void> {
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
    });
    try {
      signal.throwIfAborted();
      await Promise.race([done(begin), this.#broken, aborted]);
    } catch (error) {
      this.#isBroken = true;
      this.#socket.destroy();
      this.#connection.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}

/** @throws the failure of the connection, of TLS or of signing in */
export async function openSmtpSession(
  relay: SmtpRelay,
  credential: string | undefined,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<SmtpSession> {
  signal.throwIfAborted();
  if (exposesPassword(relay)) throw new Error('the password would be sent in plain text');
  const socket = await opened(relay, options, signal);
  const connection = new SMTPConnection({ ...tlsOptions(relay, options), connection: socket });
  const session = new SmtpSession(nameOf(relay, credential), socket, connection);
  await session.begin(relay, credential, signal);
  return session;
}

/** Sessions that wait for the next mail. */
export class IdleSessions {
  readonly #clock: Clock;
  readonly #idle = new Map<SmtpSession, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(relay: SmtpRelay, credential: string | undefined): SmtpSession | undefined {
    const name = nameOf(relay, credential);
    for (const [session, cancel] of this.#idle) {
      if (session.name !== name) continue;
      cancel();
      this.#idle.delete(session);
      session.hold(true);
      if (session.isUsable) return session;
    }
    return undefined;
  }

  keep(session: SmtpSession): void {
    if (!session.isUsable) {
      session.quit();
      return;
    }
    session.hold(false);
    const cancel = this.#clock.schedule(idleMs, () => {
      this.#idle.delete(session);
      session.quit();
    });
    this.#idle.set(session, cancel);
  }
}

const nameOf = ({ host, port, security, username }: SmtpRelay, credential: string | undefined): string =>
  JSON.stringify([host, port, security, username, credential ?? null]);

function tlsOptions({ host, port, security }: SmtpRelay, { ca }: SessionOptions) {
  const isHere = isLoopbackHost(host);
  return {
    host,
    port,
    secure: security === 'implicit',
    logger: false,
    requireTLS: security !== 'none',
    ignoreTLS: security === 'none',
    greetingTimeout: connectTimeoutMs,
    connectionTimeout: connectTimeoutMs,
    maxResponseSize: replyBytesMax,
    tls: { rejectUnauthorized: !isHere, minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) },
  };
}

function opened(
  { host, port }: SmtpRelay,
  { lookup, clock }: SessionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ...(lookup !== undefined && { lookup }) });
    const fail = (error: Error) => {
      release();
      socket.destroy();
      reject(error);
    };
    const abort = () => fail(signal.reason);
    const cancel = clock.schedule(connectTimeoutMs, () => fail(new TimedOut()));
    // The session outlives the attempt that opens it.
    const release = () => {
      cancel();
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', fail);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', fail);
    socket.once('connect', () => {
      release();
      resolve(socket);
    });
  });
}

type Callback = (error: Error | null, value?: unknown) => void;

function done(begin: (over: Callback) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    begin((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}
