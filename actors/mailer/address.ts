/**
 * Addresses of mails. A text is exactly one address, or none. A mail library could read some texts as a list, a group, a comment or
 * a second header. They are refused here, before anything else sees them.
 */
import { domainToASCII, domainToUnicode } from 'node:url';

/** RFC 5321, 4.5.3.1: a path has 256 characters at most, of which two are brackets. */
const charactersMax = 254;
const localCharactersMax = 64;
const localPart = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const domain = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Texts that may go to `domainToASCII`, which drops some characters of others, such as line breaks. */
const anyDomain = /^[\p{L}\p{M}\p{N}.-]{1,253}$/u;
/** A number, as an IP address would be normalised to. */
const numericEnd = /(^|\.)(\d+|0x[0-9a-f]*)$/i;

/**
 * The address with its domain in ASCII and lower case; undefined if this is not exactly one that mail can be sent to.
 *
 * A domain that mail would map to another text, such as one of full-width letters, is refused: two names would share a mailbox.
 */
export function mailAddress(text: string): string | undefined {
  if (text.length > charactersMax) return undefined;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const named = text.slice(at + 1);
  if (!anyDomain.test(named) || numericEnd.test(named)) return undefined;
  const host = domainToASCII(named).toLowerCase();
  if (local.length > localCharactersMax || !localPart.test(local) || !domain.test(host)) return undefined;
  if (![host, domainToUnicode(host)].includes(named.toLowerCase())) return undefined;
  const address = `${local}@${host}`;
  return address.length > charactersMax ? undefined : address;
}

export interface NamedAddress {
  /** Shown beside the address; empty for none. */
  readonly name: string;
  readonly address: string;
}

const nameCharactersMax = 100;
const namedMailbox = /^"?([^"<>@\\]*?)"?\s*<([^<>]+)>$/;

/** `Notes <notes@example.org>`, or the address alone. */
export function namedAddress(header: string): NamedAddress | undefined {
  const text = header.trim();
  const [, name = '', inner = text] = namedMailbox.exec(text) ?? [];
  const address = mailAddress(inner.trim());
  if (address === undefined || name.length > nameCharactersMax || hasControl(name)) return undefined;
  return { name: name.trim(), address };
}

export const namedAddressText = ({ name, address }: NamedAddress): string =>
  name === '' ? address : `"${name}" <${address}>`;

/** A line break among them would begin a header of its own. */
export const hasControl = (text: string): boolean => /\p{Cc}|[\u2028\u2029]/u.test(text);
