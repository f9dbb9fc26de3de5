/**
 * The events of an answer as clients receive them, and how they are written (docs/protocol/assistant.md, "The
 * stream").
 */

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

/** Clients split at two line feeds and read only `data`. */
const frameOf = (event: AssistantEvent): string => `data: ${JSON.stringify(event)}\n\n`;
export const framesOf = (events: readonly AssistantEvent[]): string => events.map(frameOf).join('');
/** Clients skip it. It shows proxies in between that the stream is alive. */
export const pingFrame = ': ping\n\n';
