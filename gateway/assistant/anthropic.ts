/** Anthropic's Messages API, version 2023-06-01. */
import type { AssistantAnswer } from './answer.ts';
import type { ChatMessage, ChatRequest } from './chat-request.ts';
import type { StopReason } from './events.ts';
import { AnswerError } from './failure.ts';
import { countAt, type Provider, textAt, valueAt } from './provider.ts';

interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly content: object[];
}

const stopReasons: Readonly<Record<string, StopReason>> = { max_tokens: 'max_tokens', stop_sequence: 'stop' };

export const anthropic: Provider = {
  headers: ({ key = '' }) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  framing: 'events',
  request: ({ system, messages, tools }, model, { maxTokens, temperature, topP }) => ({
    path: '/v1/messages',
    body: {
      model,
      max_tokens: maxTokens,
      stream: true,
      messages: turnsOf(messages),
      ...(system !== '' && { system }),
      ...(tools.length > 0 && { tools: tools.map(toolOf) }),
      // These models take one of the two settings, and no value above 1.
      ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
      ...(temperature === undefined && topP !== undefined && { top_p: topP }),
    },
  }),
  handleMessage,
  models: { path: '/v1/models?limit=1000', listField: 'data', idField: 'id' },
};

const toolOf = ({ name, description, inputSchema }: ChatRequest['tools'][number]) => ({
  name,
  input_schema: inputSchema,
  ...(description !== '' && { description }),
});

/** The API wants tool results in a user message, and those of one turn together. It refuses empty messages. */
function turnsOf(messages: readonly ChatMessage[]): readonly ChatTurn[] {
  const turns: ChatTurn[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
  return turns;
}

function contentOf({ role, content, toolCallId, toolCalls }: ChatMessage): object[] {
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: toolCallId, content }];
  const calls = role === 'assistant' ? toolCalls : [];
  return [
    ...(content === '' ? [] : [{ type: 'text', text: content }]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
  ];
}

function handleMessage(event: unknown, answer: AssistantAnswer): void {
  const index = countAt(event, 'index') ?? 0;
  switch (textAt(event, 'type')) {
    case 'message_start':
      answer.usage(promptTokens(valueAt(event, 'message', 'usage')), undefined);
      return;
    case 'content_block_start':
      begin(valueAt(event, 'content_block'), index, answer);
      return;
    case 'content_block_delta':
      answer.text(textAt(event, 'delta', 'text'));
      if (textAt(event, 'delta', 'type') === 'input_json_delta') {
        answer.tool(index, { json: textAt(event, 'delta', 'partial_json') ?? '' });
      }
      return;
    case 'content_block_stop':
      answer.toolEnds(index);
      return;
    case 'message_delta': {
      const reason = textAt(event, 'delta', 'stop_reason');
      if (reason !== undefined) answer.stop(stopReasons[reason] ?? 'end_turn');
      answer.usage(undefined, countAt(event, 'usage', 'output_tokens'));
      return;
    }
    case 'message_stop':
      answer.complete();
      return;
    case 'error':
      throw new AnswerError(textAt(event, 'error', 'type') === 'overloaded_error' ? 'busy' : 'unavailable');
  }
}

function begin(block: unknown, index: number, answer: AssistantAnswer): void {
  if (textAt(block, 'type') !== 'tool_use') answer.text(textAt(block, 'text'));
  else answer.tool(index, { id: textAt(block, 'id') ?? '', name: textAt(block, 'name') ?? '' });
}

/** Tokens read from a cache, or written to one, were also sent. */
function promptTokens(usage: unknown): number | undefined {
  const counts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map((name) =>
    countAt(usage, name),
  );
  return counts[0] === undefined ? undefined : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
