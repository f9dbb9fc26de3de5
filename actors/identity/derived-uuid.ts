/** A uuid derived from a text: the same text always gives the same uuid. */
import { hash } from 'node:crypto';

export function derivedUuid(text: string): string {
  const hex = hash('sha256', text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
