/** Where published reminders go: a channel, and one destination of it. */
import { mailAddress } from '../../mailer/address.ts';

export const channels = ['email', 'telegram', 'whatsapp'] as const;
export type Channel = (typeof channels)[number];

export interface Target {
  readonly channel: Channel;
  readonly destination: string;
}

/** Somebody's or something's number, or a public name. */
const telegramChat = /^(-?\d{1,20}|@\w{5,32})$/;
const telephone = /^\+?[1-9]\d{6,14}$/;

export const isChannel = (given: unknown): given is Channel => channels.some((channel) => channel === given);

/** As it is to be used; undefined for what is not exactly one destination of the channel. */
export function destinationOf(channel: Channel, given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const text = given.trim();
  switch (channel) {
    case 'email':
      return mailAddress(text);
    case 'telegram':
      return telegramChat.test(text) ? text : undefined;
    case 'whatsapp':
      return telephone.test(text) ? text : undefined;
  }
}
