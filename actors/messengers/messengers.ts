/** The port through which one message goes to one person by a messenger: its request and its results. */
import { dependency } from '../../runtime/dependency.ts';

const messengerChannels = ['telegram', 'whatsapp'] as const;
export type MessengerChannel = (typeof messengerChannels)[number];

export interface MessengerDelivery {
  readonly channel: MessengerChannel;
  /** One chat or one number, as `isDestination` has checked. */
  readonly destination: string;
  /** Plain text. */
  readonly text: string;
  /** Await it right before anything of the message leaves. If it resolves to false, the message must not leave. */
  handOver(): Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 *     accepted    the provider has taken it
 *     rejected    the provider will never take it
 *     transient   the provider has not taken it, and may later
 *     unable      for now the channel can send nothing at all, so the message is not to blame
 *     uncertain   it is unknown whether the provider has taken it
 *     withdrawn   `handOver` resolved to false
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
  /** Whether the operator has set it up. */
  has(channel: MessengerChannel): boolean;
  /** Rejects only with what `handOver` threw, and once `signal` is aborted before anything has left. */
  send(delivery: MessengerDelivery): Promise<MessengerResult>;
}
export const Messengers = dependency<Messengers>('the messengers');
