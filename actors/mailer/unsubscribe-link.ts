/** The link that stops mail to a mailbox, and where a mail contains it (docs/protocol/delivery.md, "Stopping mail"). */
import type { SigninKeys } from '../identity/signin-keys.ts';
import { unsubscribePath } from './contract.ts';
import type { MailSettings } from './settings.ts';
import { type MailSource, rulesOf } from './sources.ts';

/** Undefined if this mail cannot be stopped, or if the address of this server is not set. */
export function unsubscribeLink(
  { publicUrl }: Pick<MailSettings, 'publicUrl'>,
  keys: Pick<SigninKeys, 'mailboxKey' | 'unsubscribeToken'>,
  source: MailSource,
  recipient: string,
): string | undefined {
  if (publicUrl === undefined || !rulesOf(source).mayBeStopped) return undefined;
  return `${publicUrl}${unsubscribePath}/${keys.unsubscribeToken(keys.mailboxKey(recipient))}`;
}

export const withLink = (text: string, link: string | undefined): string =>
  link === undefined ? text : `${text.trimEnd()}\n\n-- \nTo stop mail from this server: ${link}\n`;

/** RFC 8058: mail programs show a button for it. */
export const unsubscribeHeaders = (link: string | undefined): Readonly<Record<string, string>> =>
  link === undefined
    ? {}
    : { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
