/**
 * Decrypts a public share for a reader who has the key (docs/protocol/public-shares.md, "What is shared"). The server
 * knows none of this: the code runs in the reader's browser.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';

export interface Note {
  readonly title: string;
  readonly text: string;
}

/**
 *     notes        a note, or the notes of a tag with its title
 *     other        something else, which may have been given for the only time: it is shown as it is
 *     wrong-key    the key does not fit, or the content was changed
 *     unsupported  sealed in a way that is not known here
 */
export type OpenedShare =
  | { readonly opened: 'notes'; readonly title: string | undefined; readonly notes: readonly Note[] }
  | { readonly opened: 'other'; readonly text: string }
  | { readonly opened: 'wrong-key' | 'unsupported' };

const keyForm = /^[0-9a-f]{64}$/i;
const nonceForm = /^[0-9a-f]{48}$/i;

/** The key of a link; undefined if it is incomplete. */
export const linkKeyOf = (hex: string): Uint8Array | undefined =>
  keyForm.test(hex) ? bytesOfHex(hex) : undefined;

export function unseal(payload: string, key: Uint8Array): OpenedShare {
  const sealed = sealedOf(payload);
  if (sealed === undefined) return { opened: 'unsupported' };
  const bytes = decrypt(sealed, key);
  return bytes === undefined ? { opened: 'wrong-key' } : openedOf(new TextDecoder().decode(bytes));
}

interface SealedShare {
  readonly nonce: Uint8Array;
  readonly ciphertext: Uint8Array;
}

function sealedOf(payload: string): SealedShare | undefined {
  const { v, nonce, ciphertext } = fieldsOf(payload);
  if (v !== 1 || typeof nonce !== 'string' || !nonceForm.test(nonce)) return undefined;
  const bytes = typeof ciphertext === 'string' ? bytesOfBase64(ciphertext) : undefined;
  return bytes === undefined ? undefined : { nonce: bytesOfHex(nonce), ciphertext: bytes };
}

function decrypt({ nonce, ciphertext }: SealedShare, key: Uint8Array): Uint8Array | undefined {
  try {
    return xchacha20poly1305(key, nonce).decrypt(ciphertext);
  } catch {
    return undefined;
  }
}

function openedOf(text: string): OpenedShare {
  const { kind, title, notes, text: only } = fieldsOf(text);
  const own = typeof title === 'string' ? title : '';
  if (kind === 'note' && typeof only === 'string') {
    return { opened: 'notes', title: undefined, notes: [{ title: own, text: only }] };
  }
  if (kind === 'tag' && Array.isArray(notes) && notes.every(isNote)) {
    return { opened: 'notes', title: own, notes };
  }
  return { opened: 'other', text };
}

const isNote = (value: unknown): value is Note =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Note>).title === 'string' &&
  typeof (value as Partial<Note>).text === 'string';

/** The fields of a JSON object; none for anything else. */
function fieldsOf(json: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}

const bytesOfHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );

/** Accepts either alphabet, padded or not. */
function bytesOfBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
