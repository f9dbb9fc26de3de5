/** What this server knows about a provider: how to send a request, how to read the answer, and which models it has. */
import type { ProviderAccess } from '../../actors/assistant/policy.ts';
import type { AssistantAnswer } from './answer.ts';
import type { ChatRequest, Sampling } from './chat-request.ts';

interface ProviderRequest {
  /** Relative to the base URL. */
  readonly path: string;
  readonly body: unknown;
}

export interface Provider {
  headers(access: ProviderAccess): Readonly<Record<string, string>>;
  request(request: ChatRequest, model: string, sampling: Sampling, access: ProviderAccess): ProviderRequest;
  /** The form of the answer: server-sent events, or one JSON document a line. */
  readonly framing: 'events' | 'lines';
  /** One message: parsed JSON, or the text of an event that is no JSON. @throws AnswerError */
  handleMessage(message: unknown, answer: AssistantAnswer): void;
  readonly models: {
    readonly path: string;
    /** The field that holds the list, and the field of an entry that holds its id. */
    readonly listField: string;
    readonly idField: string;
  };
}

/** A tool in the form of OpenAI, which others have taken over. */
export const functionOf = ({ name, description, inputSchema }: ChatRequest['tools'][number]) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
});

// --- reading parsed but untrusted values ------------------------------------------------------------------------

export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** A non-negative count. */
export function countAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}
