/** Port for sending a message over a messaging service: the request and its results. */
import { dependency } from '../../runtime/dependency.ts';

export type MessengerChannel = 'telegram' | 'whatsapp';

export interface MessengerDelivery {
  readonly channel: MessengerChannel;
  /** One chat or one number, as `destinationOf` returns it. */
  readonly destination: string;
  /** Plain text. */
  readonly text: string;
  /** Call it right before the request: it commits that the message is in flight. False: the message is cancelled, do not send it. */
  markInFlight(): Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 *     accepted    the provider has taken it
 *     rejected    the provider will never take it
 *     transient   the provider has not taken it, and may later
 *     unable      the channel cannot send now, whatever the message; this counts as no attempt
 *     uncertain   it is unknown whether the provider has taken it
 *     withdrawn   `markInFlight` resolved to false
 */
export type MessengerResult =
  | { readonly result: 'withdrawn' }
  | { readonly result: 'accepted' | 'rejected' | 'uncertain' }
  | { readonly result: 'transient'; readonly failure: 'transient' | 'timeout' }
  | {
      readonly result: 'unable';
      readonly failure: 'not-configured' | 'transient';
      /** The provider has said when to come back. */
      readonly retryAfterMs?: number;
    };

export interface Messengers {
  /** Whether the channel is configured. */
  isConfigured(channel: MessengerChannel): boolean;
  /** Rejects only if `markInFlight` throws, or if `signal` aborts before the message is sent. */
  send(delivery: MessengerDelivery): Promise<MessengerResult>;
}
export const Messengers = dependency<Messengers>('the messengers');
