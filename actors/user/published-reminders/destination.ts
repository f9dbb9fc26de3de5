/** The target of a published reminder: a channel, and one destination of it. */
import { mailAddress } from '../../mailer/address.ts';

export const channels = ['email', 'telegram', 'whatsapp'] as const;
export type Channel = (typeof channels)[number];

export interface Target {
  readonly channel: Channel;
  readonly destination: string;
}

/** The number of a user, group or channel, or a public name. */
const telegramChat = /^(-?\d{1,20}|@\w{5,32})$/;
const telephone = /^\+?[1-9]\d{6,14}$/;

export const isChannel = (input: unknown): input is Channel => channels.some((channel) => channel === input);

/** The destination in the form that is used. Undefined: this is not exactly one destination of the channel. */
export function destinationOf(channel: Channel, input: unknown): string | undefined {
  if (typeof input !== 'string') return undefined;
  const text = input.trim();
  switch (channel) {
    case 'email':
      return mailAddress(text);
    case 'telegram':
      return telegramChat.test(text) ? text : undefined;
    case 'whatsapp':
      return telephone.test(text) ? text : undefined;
  }
}
