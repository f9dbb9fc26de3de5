/** The port through which one mail goes to one relay: its request, and its few results. */
import { dependency } from '../../runtime/dependency.ts';
import type { NamedAddress } from './address.ts';
import type { MailFailure } from './contract.ts';
import type { Relay } from './relays.ts';

export interface MailMessage {
  readonly from: NamedAddress;
  /** One address, which is the whole envelope. */
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly attachment?: Attachment | undefined;
  /** The link that stops mail to this recipient; absent if the mail cannot be stopped. */
  readonly unsubscribeLink?: string | undefined;
  /** The same in every attempt, as is the date. */
  readonly messageId: string;
  readonly dateMs: number;
}

export interface Attachment {
  readonly filename: string;
  /** JSON in UTF-8, in pieces, so that no second copy of all of it is in memory. */
  readonly pieces: readonly Buffer[];
}

export interface MailDelivery {
  readonly relay: Relay;
  /** Plain text: the password of SMTP, the key of a hosted relay. */
  readonly credential: string | undefined;
  readonly message: MailMessage;
  /** The sender awaits it before anything of the message leaves. @throws if the message must not leave */
  handOver(): Promise<void>;
  /** The time for the whole attempt. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 *     sent        the relay has taken it, though perhaps without its attachment
 *     rejected    the relay will never take it
 *     transient   the relay may take this mail later
 *     unable      the relay can send nothing at all for now, so nothing is held against the mail
 *     uncertain   the relay may have all of it
 */
export type SendResult =
  | { readonly result: 'sent'; readonly lacksAttachment?: boolean }
  | { readonly result: 'rejected' | 'transient' | 'unable' | 'uncertain'; readonly failure: MailFailure };

export interface MailSender {
  /** Rejects only with what `handOver` threw. */
  send(delivery: MailDelivery): Promise<SendResult>;
}
export const MailSender = dependency<MailSender>('the sender of mail');
