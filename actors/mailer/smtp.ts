/**
 * Sending one mail over SMTP, by nodemailer.
 *
 *     connect -> TLS -> sign in -> MAIL, RCPT, DATA -> hand over -> the message -> the relay's answer
 *
 * Promises
 *   - The message has one recipient: the address it was given, already checked, is the whole envelope.
 *   - Nodemailer opens no file and no address for a message, and logs nothing.
 *   - Off loopback nothing is said in the clear and no certificate is taken on trust.
 *   - No byte of the message leaves before `handOver` has resolved; if it throws, the connection is cut instead.
 *   - Nothing that a relay says is kept: what went wrong is one of a few words.
 */
import { connect, type LookupFunction, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Clock } from '../../runtime/clock.ts';
import { isLoopbackHost, type SmtpRelay } from './relays.ts';
import type { Delivery, Message, Result } from './sender.ts';

export interface SmtpOptions {
  readonly clock: Clock;
  readonly lookup?: LookupFunction;
  /** Certificates to trust instead of the well-known ones. */
  readonly ca?: string;
}

/** To connect and be greeted: whoever does not within this is not there. */
const connectTimeoutMs = 20_000;
/** Of a reply of the relay. */
const replyBytesMax = 16_384;

export type SmtpDelivery = Delivery & { readonly relay: SmtpRelay };

export const createSmtp =
  (options: SmtpOptions) =>
  async (delivery: SmtpDelivery): Promise<Result> => {
    const deadline = new AbortController();
    const cancel = options.clock.schedule(delivery.timeoutMs, () => deadline.abort(new TimedOut()));
    const signal = AbortSignal.any([delivery.signal, deadline.signal]);
    const attempt = new Attempt();
    try {
      await attempt.send(delivery, options, signal);
      return { result: 'sent' };
    } catch (error) {
      if (attempt.notHandedOver !== undefined) throw attempt.notHandedOver;
      return resultOf(signal.aborted ? signal.reason : error, attempt.isHandedOver);
    } finally {
      cancel();
    }
  };

class TimedOut extends Error {}

class Attempt {
  isHandedOver = false;
  notHandedOver: Error | undefined;

  async send(delivery: SmtpDelivery, options: SmtpOptions, signal: AbortSignal): Promise<void> {
    const { relay, credential, message } = delivery;
    const composed = await compose(message);
    const socket = await opened(relay, options, signal);
    const connection = new SMTPConnection({ ...tlsOptions(relay, options), connection: socket });
    const broken = new Promise<never>((_, reject) => {
      connection.on('error', reject);
      connection.on('end', () => reject(new Error('the relay has closed the connection')));
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    const unlessBroken = <T>(work: Promise<T>) => Promise.race([work, broken]);
    // What nobody waits for any more may still fail.
    broken.catch(() => {});
    try {
      await unlessBroken(done((over) => connection.connect((error) => over(error ?? null))));
      if (relay.username !== null) {
        const auth = { user: relay.username, pass: credential ?? '' };
        await unlessBroken(done((over) => connection.login(auth, over)));
      }
      const envelope = { from: message.from.address, to: [message.recipient], size: composed.length };
      const stream = Readable.from(this.#handedOver(delivery, composed), { objectMode: false });
      await unlessBroken(done((over) => connection.send(envelope, stream, over)));
      connection.quit();
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      connection.close();
    }
  }

  /** Nodemailer reads from it once the relay has asked for the message. */
  async *#handedOver({ handOver }: Delivery, composed: Buffer): AsyncGenerator<Buffer> {
    try {
      await handOver();
    } catch (error) {
      this.notHandedOver = error as Error;
      throw error;
    }
    this.isHandedOver = true;
    yield composed;
  }
}

/** The message as it is sent: one part of plain text. */
export async function compose({
  from,
  recipient,
  subject,
  text,
  messageId,
  dateMs,
}: Message): Promise<Buffer> {
  const composer = new MailComposer({
    // It writes into what it is given.
    from: { ...from },
    to: { name: '', address: recipient },
    subject,
    text,
    messageId,
    date: new Date(dateMs),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
    xMailer: false,
  });
  return composer.compile().build();
}

function tlsOptions({ host, port, security }: SmtpRelay, { ca }: SmtpOptions) {
  const isHere = isLoopbackHost(host);
  return {
    ...{ host, port, secure: security === 'implicit', logger: false },
    requireTLS: security === 'starttls' || !isHere,
    ignoreTLS: security === 'none' && isHere,
    greetingTimeout: connectTimeoutMs,
    connectionTimeout: connectTimeoutMs,
    maxResponseSize: replyBytesMax,
    tls: { rejectUnauthorized: !isHere, minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) },
  };
}

function opened(
  { host, port }: SmtpRelay,
  { lookup, clock }: SmtpOptions,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ...(lookup !== undefined && { lookup }) });
    const fail = (error: Error) => {
      cancel();
      socket.destroy();
      reject(error);
    };
    const cancel = clock.schedule(connectTimeoutMs, () => fail(new TimedOut()));
    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    socket.once('error', fail);
    socket.once('connect', () => {
      cancel();
      socket.removeListener('error', fail);
      resolve(socket);
    });
  });
}

type Over = (error: Error | null, value?: unknown) => void;

function done(begin: (over: Over) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    begin((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}

interface SmtpError {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/** The relay is about to close: RFC 5321, 3.8. */
const closing = 421;

function resultOf(error: unknown, isHandedOver: boolean): Result {
  const { code, command = '', responseCode = 0 } = error as SmtpError;
  if (responseCode === closing) return { result: 'unable', failure: 'rate-limited' };
  const isAboutMail = command === 'RCPT TO' || command === 'DATA';
  if (isAboutMail && responseCode >= 500) return { result: 'rejected', failure: 'rejected' };
  if (isAboutMail && responseCode >= 400) return { result: 'transient', failure: 'provider' };
  const failure = error instanceof TimedOut || code === 'ETIMEDOUT' ? 'timeout' : 'connection';
  if (isHandedOver) return { result: 'uncertain', failure: 'timeout' };
  if (code === 'EAUTH') return { result: 'unable', failure: 'authentication' };
  if (responseCode >= 400) return { result: 'unable', failure: 'provider' };
  // The relay said beforehand that it takes nothing so large.
  if (code === 'EMESSAGE' || code === 'EENVELOPE') return { result: 'rejected', failure: 'rejected' };
  return { result: 'unable', failure };
}
