/**
 * The digest by which a client and the server agree on the content of a command (docs/protocol/sockets.md, "Digest"). It is
 * SHA-256 over the canonical JSON of its body. Keys are sorted by UTF-16 code unit, which is how JavaScript compares strings.
 * Scalars are written as `JSON.stringify` writes them.
 */
import { hash } from 'node:crypto';

/** The value comes from `JSON.parse` and its depth is bounded (`envelope.ts`), so the recursion is. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(fields)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(fields[key])}`);
  return `{${members.join(',')}}`;
}

export const commandDigestOf = (body: unknown): string => hash('sha256', canonicalJson(body), 'hex');

export const digestPattern = /^[0-9a-f]{64}$/;
