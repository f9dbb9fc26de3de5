/**
 * What a client sends to the assistant (docs/protocol/assistant.md, "A request"). The server ignores what it says
 * about provider, model or profile.
 */
import { z } from 'zod';

const messagesMax = 500;
const toolsMax = 128;
const outputTokensMax = 200_000;
const outputTokensByDefault = 4_096;

const toolCall = z.object({ id: z.string(), name: z.string(), args: z.unknown().optional() });
const message = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string().nullish(),
  toolCallId: z.string().nullish(),
  toolCalls: z.array(toolCall).max(toolsMax).nullish(),
  name: z.string().nullish(),
});
const tool = z.object({
  name: z.string(),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
});

const bodySchema = z.object({
  system: z.string().nullish(),
  messages: z.array(message).max(messagesMax).nullish(),
  tools: z.array(tool).max(toolsMax).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.number().nullish(),
});
type RequestBody = z.infer<typeof bodySchema>;

/** The fields, for the API description. The check of their values comes after the check of what the account may do. */
export const requestFields = z.object(
  Object.fromEntries(Object.keys(bodySchema.shape).map((name) => [name, z.unknown().optional()])),
);

export interface ChatMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly toolCallId: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  readonly name: string;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ChatRequest {
  /** The system messages, joined in their order. Empty if there are none. */
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly maxTokens: number | undefined;
}

/** A request until the provider has it: it may take megabytes, and its answer minutes. */
export class PendingChatRequest {
  readonly isValid: boolean;
  #request: ChatRequest | undefined;

  constructor(body: unknown) {
    const { data } = bodySchema.safeParse(body);
    this.#request = data && read(data);
    this.isValid = this.#request !== undefined;
  }

  /** Call once, and only on a valid request. */
  take(): ChatRequest {
    const request = this.#request;
    if (request === undefined) throw new TypeError('there is nothing to pass on');
    this.#request = undefined;
    return request;
  }
}

function read({ system, messages, tools, temperature, top_p, max_tokens }: RequestBody): ChatRequest {
  const all = messages ?? [];
  const systems = [system, ...all.filter(({ role }) => role === 'system').map(({ content }) => content)];
  return {
    system: systems.filter((text) => text).join('\n\n'),
    messages: all.flatMap(({ role, content, toolCallId, toolCalls, name }) =>
      role === 'system'
        ? []
        : [
            {
              role,
              content: content ?? '',
              toolCallId: toolCallId ?? '',
              name: name ?? '',
              toolCalls: (toolCalls ?? []).map(({ id, name: of, args }) => ({
                id,
                name: of,
                args: args ?? {},
              })),
            },
          ],
    ),
    tools: (tools ?? []).map(({ name, description, inputSchema }) => ({
      name,
      description: description ?? '',
      inputSchema: { type: 'object', ...inputSchema },
    })),
    temperature: clamped(temperature, 0, 2),
    topP: clamped(top_p, 0, 1),
    maxTokens: clamped(
      max_tokens === null || max_tokens === undefined ? null : Math.floor(max_tokens),
      1,
      outputTokensMax,
    ),
  };
}

export interface Sampling {
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly topP?: number;
}

/** The settings that the profile determines. */
export interface AllowedSettings {
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

/** Within the limits of the profile. */
export function samplingOf(
  { maxTokens = outputTokensByDefault, temperature, topP }: ChatRequest,
  profile: AllowedSettings,
): Sampling {
  const requested = temperature ?? profile.temperature;
  return {
    maxTokens: Math.min(maxTokens, profile.maxOutputTokens ?? outputTokensMax),
    ...(requested !== undefined && { temperature: requested }),
    ...(topP !== undefined && { topP }),
  };
}

const clamped = (value: number | null | undefined, min: number, max: number): number | undefined =>
  value === null || value === undefined ? undefined : Math.min(Math.max(value, min), max);
