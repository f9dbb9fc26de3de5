/**
 * Sending one mail over SMTP, by nodemailer.
 *
 *     a session -> MAIL, RCPT, DATA -> hand over -> the message -> the relay's answer -> the session is kept for the next mail
 *
 * Promises
 *   - The message has one recipient: the address it was given, already checked, is the whole envelope.
 *   - Nodemailer opens no file and no address for a message, and logs nothing.
 *   - A file is encoded while it leaves, so it is in memory once, in the pieces that it came in.
 *   - No byte of the message leaves before `handOver` has resolved; if it throws, the connection is cut instead.
 *   - If the relay has ended a kept session meanwhile, that is no failure of the relay: the mail goes over a new session.
 *   - The words of a relay are not kept. A failure is one of a few kinds.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { SmtpRelay } from './relays.ts';
import type { MailDelivery, MailMessage, SendResult } from './sender.ts';
import {
  IdleSessions,
  openSmtpSession,
  type SessionOptions,
  type SmtpSession,
  TimedOut,
} from './smtp-session.ts';
import { unsubscribeHeaders } from './unsubscribe-link.ts';

export type SmtpDelivery = MailDelivery & { readonly relay: SmtpRelay };

export const createSmtp = (options: SessionOptions): ((delivery: SmtpDelivery) => Promise<SendResult>) => {
  const sessions = new IdleSessions(options.clock);
  return async (delivery) => {
    const deadline = new AbortController();
    const cancel = options.clock.schedule(delivery.timeoutMs, () => deadline.abort(new TimedOut()));
    const signal = AbortSignal.any([delivery.signal, deadline.signal]);
    const attempt = new SmtpAttempt(delivery, signal);
    try {
      await attempt.send(sessions, options);
      return { result: 'sent' };
    } catch (error) {
      if (attempt.notHandedOver !== undefined) throw attempt.notHandedOver;
      return resultOf(signal.aborted ? signal.reason : error, attempt.isHandedOver);
    } finally {
      cancel();
    }
  };
};

class SmtpAttempt {
  isHandedOver = false;
  notHandedOver: Error | undefined;
  readonly #delivery: SmtpDelivery;
  readonly #signal: AbortSignal;
  #hasAskedToHandOver = false;

  constructor(delivery: SmtpDelivery, signal: AbortSignal) {
    this.#delivery = delivery;
    this.#signal = signal;
  }

  async send(sessions: IdleSessions, options: SessionOptions): Promise<void> {
    const { relay, credential, message } = this.#delivery;
    const composed = await composedOf(message);
    const before = sessions.take(relay, credential);
    if (before !== undefined && (await this.#sendOver(before, composed))) {
      sessions.keep(before);
      return;
    }
    const session = await openSmtpSession(relay, credential, options, this.#signal);
    await this.#send(session, composed);
    sessions.keep(session);
  }

  /** False if the session was over before any request, so that nothing is known of the relay. */
  async #sendOver(session: SmtpSession, composed: ComposedMessage): Promise<boolean> {
    try {
      await this.#send(session, composed);
      return true;
    } catch (error) {
      const isOver = this.#hasAskedToHandOver || this.#signal.aborted;
      if (isOver || resultOf(error, false).result !== 'unable') throw error;
      return false;
    }
  }

  #send(session: SmtpSession, composed: ComposedMessage): Promise<void> {
    const { from, recipient } = this.#delivery.message;
    const envelope = { from: from.address, to: [recipient], size: composed.bytes };
    const stream = Readable.from(this.#handedOver(composed), { objectMode: false });
    return session.send(envelope, stream, this.#signal);
  }

  /** Nodemailer reads from it once the relay has asked for the message. */
  async *#handedOver(composed: ComposedMessage): AsyncGenerator<Buffer> {
    this.#hasAskedToHandOver = true;
    try {
      await this.#delivery.handOver();
    } catch (error) {
      this.notHandedOver = error as Error;
      throw error;
    }
    this.isHandedOver = true;
    yield* composed.open();
  }
}

interface ComposedMessage {
  /** With a file a little too many: relays take the announced size of a mail for an estimate (RFC 1870, 3). */
  readonly bytes: number;
  readonly open: () => AsyncIterable<Buffer>;
}

/** Bytes of a line of base64, and of the file in it. */
const base64Line = { bytes: 78, ofFile: 57 };
/** More than the headers of the file take. */
const fileHeadersBytes = 1_024;

async function composedOf(message: MailMessage): Promise<ComposedMessage> {
  const { attachment } = message;
  const withoutFile = await compose({ ...message, attachment: undefined }).build();
  if (attachment === undefined)
    return { bytes: withoutFile.length, open: () => Readable.from([withoutFile]) };
  const fileBytes = attachment.pieces.reduce((sum, { length }) => sum + length, 0);
  const lines = Math.ceil(fileBytes / base64Line.ofFile);
  return {
    bytes: withoutFile.length + fileHeadersBytes + lines * base64Line.bytes,
    open: () => compose(message).createReadStream(),
  };
}

/** The message as it is sent: one part of plain text, and its file if it has one. */
export function compose({
  from,
  recipient,
  subject,
  text,
  attachment,
  messageId,
  dateMs,
  unsubscribeLink,
}: MailMessage): ReturnType<MailComposer['compile']> {
  const composer = new MailComposer({
    // Nodemailer writes into the object that it is given.
    from: { ...from },
    to: { name: '', address: recipient },
    subject,
    text,
    messageId,
    date: new Date(dateMs),
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribeLink) },
    ...(attachment !== undefined && {
      attachments: [
        {
          filename: attachment.filename,
          content: Readable.from(inChunks(attachment.pieces)),
          contentType: 'application/json',
        },
      ],
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
    xMailer: false,
  });
  return composer.compile();
}

/** Encoding a chunk holds up the process, so it is small, and others have their turn before the next. */
const chunkBytes = 1_024 * base64Line.ofFile;

async function* inChunks(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += chunkBytes) {
      yield piece.subarray(at, at + chunkBytes);
      await setImmediate();
    }
  }
}

interface SmtpError {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/** The relay is about to close: RFC 5321, 3.8. */
const closing = 421;
/** The reply concerns the mail, whichever command it answers: RFC 1870, 6.1. */
const tooLarge = 552;

function resultOf(error: unknown, isHandedOver: boolean): SendResult {
  const { code, command = '', responseCode = 0 } = error as SmtpError;
  if (responseCode === closing && !isHandedOver) return { result: 'unable', failure: 'rate-limited' };
  const isAboutMail = command === 'RCPT TO' || command === 'DATA' || responseCode === tooLarge;
  if (isAboutMail && responseCode >= 500) return { result: 'rejected', failure: 'rejected' };
  if (isAboutMail && responseCode >= 400) return { result: 'transient', failure: 'provider' };
  const failure = error instanceof TimedOut || code === 'ETIMEDOUT' ? 'timeout' : 'connection';
  if (isHandedOver) return { result: 'uncertain', failure: 'timeout' };
  if (code === 'EAUTH') return { result: 'unable', failure: 'authentication' };
  if (responseCode >= 400) return { result: 'unable', failure: 'provider' };
  // The relay has announced a smaller limit.
  if (code === 'EMESSAGE' || code === 'EENVELOPE') return { result: 'rejected', failure: 'rejected' };
  return { result: 'unable', failure };
}
