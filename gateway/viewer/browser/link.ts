/** Reads the link in the address bar: which share, and the key that no server may see. */
import { keyOf } from './sealed.ts';

export interface Link {
  readonly shareId: string;
  readonly key: Uint8Array;
}

const idForm = /^[0-9a-f-]{36}$/i;

/** Removes the key from the address bar, and so from the history. Undefined if the link is incomplete. */
export function takeLink(): Link | undefined {
  const { hash, search } = location;
  history.replaceState(null, '', search);
  const shareId = new URLSearchParams(search).get('shared') ?? '';
  const key = keyOf(hash.slice(1));
  return key === undefined || !idForm.test(shareId) ? undefined : { shareId, key };
}
