/** What this server knows of a provider: how it is asked, how its answer is read, and which models it has. */
import type { ProviderAccess } from '../../actors/assistant/policy.ts';
import type { Answer } from './answer.ts';
import type { Asked, Sampling } from './asked.ts';

interface ProviderRequest {
  /** Behind the base URL. */
  readonly path: string;
  readonly body: unknown;
}

export interface Provider {
  headers(access: ProviderAccess): Readonly<Record<string, string>>;
  request(asked: Asked, model: string, sampling: Sampling, access: ProviderAccess): ProviderRequest;
  /** How one thing that it says follows another. */
  readonly framing: 'events' | 'lines';
  /** What it says, parsed. @throws AnswerError */
  read(said: unknown, answer: Answer): void;
  readonly models: {
    readonly path: string;
    /** The list, and what in each entry is its id. */
    readonly list: string;
    readonly id: string;
  };
}

// --- of what was parsed and nobody vouches for ---------------------------------------------------------------

export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** A count. */
export function countAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
