/** Checks a dead man's switch that a client sends. */

import { isStorableText } from '../../../runtime/table.ts';
import { hasControl, mailAddress } from '../../mailer/address.ts';
import { isThisMachine } from '../../outbound/public-address.ts';
import { sentTimeMs } from '../../times.ts';

const dayMs = 86_400_000;
const daysMax = 3_650;
const urlCharactersMax = 4_096;
const messageCharactersMax = 4_000;

export interface SwitchInput {
  readonly recipient: string;
  readonly shareUrl: string;
  readonly message: string | null;
  readonly intervalDays: number;
  readonly deadlineMs: number;
}

type UncheckedFields = Readonly<
  Record<'recipientEmail' | 'recipient' | 'shareUrl' | 'intervalDays' | 'deadline' | 'message', unknown>
>;

/** A text says what is wrong. */
export function readSwitch(input: Partial<UncheckedFields>, nowMs: number): SwitchInput | string {
  const recipient = recipientOf(input.recipientEmail ?? input.recipient);
  if (recipient === undefined) return 'Give the e-mail address of one recipient.';
  const shareUrl = linkOf(input.shareUrl);
  if (shareUrl === undefined) return 'Give the link that is to be sent, which begins with https://.';
  const message = messageOf(input.message);
  if (message === undefined) return `The message is a text of ${messageCharactersMax} characters at most.`;
  const when = whenOf(input, nowMs);
  if (when === undefined) return `Give an interval of 1 to ${daysMax} days, or a deadline within as many.`;
  return { recipient, shareUrl, message, ...when };
}

function recipientOf(input: unknown): string | undefined {
  return typeof input === 'string' ? mailAddress(input.trim()) : undefined;
}

/** The link exactly as it was sent, because its fragment is a key. Only a server on this machine may do without https. */
function linkOf(input: unknown): string | undefined {
  if (typeof input !== 'string') return undefined;
  const link = input.trim();
  if (link.length > urlCharactersMax || /\s/.test(link) || hasControl(link) || !isStorableText(link))
    return undefined;
  if (!/^https?:\/\//i.test(link) || !URL.canParse(link)) return undefined;
  const { protocol, hostname, username, password } = new URL(link);
  if (username !== '' || password !== '') return undefined;
  return protocol === 'https:' || isThisMachine(hostname) ? link : undefined;
}

function messageOf(input: unknown): string | null | undefined {
  if (input == null) return null;
  if (typeof input !== 'string' || !isStorableText(input)) return undefined;
  const message = input.trim();
  if (message.length > messageCharactersMax) return undefined;
  return message === '' ? null : message;
}

type When = Pick<SwitchInput, 'intervalDays' | 'deadlineMs'>;

/** `deadline` is the first one, and the interval counts from each check-in. Either follows from the other. */
function whenOf({ intervalDays, deadline }: Partial<UncheckedFields>, nowMs: number): When | undefined {
  const deadlineMs = deadline == null ? undefined : deadlineOf(deadline, nowMs);
  if (deadline != null && deadlineMs === undefined) return undefined;
  const days =
    intervalDays ?? (deadlineMs !== undefined ? Math.ceil((deadlineMs - nowMs) / dayMs) : undefined);
  if (typeof days !== 'number' || !Number.isInteger(days) || days < 1 || days > daysMax) return undefined;
  return { intervalDays: days, deadlineMs: deadlineMs ?? nowMs + days * dayMs };
}

function deadlineOf(deadline: unknown, nowMs: number): number | undefined {
  const deadlineMs = sentTimeMs(deadline);
  if (deadlineMs === undefined || deadlineMs <= nowMs) return undefined;
  return deadlineMs - nowMs <= daysMax * dayMs ? deadlineMs : undefined;
}
