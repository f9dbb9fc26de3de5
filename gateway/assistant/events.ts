/** What a client is told of an answer, and how it goes out (docs/protocol/assistant.md, "The stream"). */

export type StopReason = 'end_turn' | 'max_tokens' | 'tool_use' | 'stop' | 'error';

export interface Usage {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly totalTokens?: number;
}

export type AssistantEvent =
  | { readonly kind: 'text-delta'; readonly delta: string }
  | { readonly kind: 'tool-call'; readonly id: string; readonly name: string; readonly args: unknown }
  | ({ readonly kind: 'usage' } & Usage)
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'finish'; readonly stopReason: StopReason };

/** Clients split at two line feeds and read nothing but `data`. */
const frameOf = (event: AssistantEvent): string => `data: ${JSON.stringify(event)}\n\n`;
export const framesOf = (events: readonly AssistantEvent[]): string => events.map(frameOf).join('');
/** Clients skip it; what stands in between learns that the stream lives. */
export const pingFrame = ': ping\n\n';
