/** OpenAI's chat completions, and the many servers that are compatible with them. */
import { openAiUrl } from '../../actors/assistant/policy.ts';
import type { AssistantAnswer } from './answer.ts';
import type { ChatMessage } from './chat-request.ts';
import { AnswerError } from './failure.ts';
import { countAt, functionOf, listAt, type Provider, textAt, valueAt } from './provider.ts';

export const openai: Provider = {
  headers: ({ key }) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  framing: 'events',
  request: ({ system, messages, tools }, model, { maxTokens, temperature, topP }, { baseUrl }) => ({
    path: '/chat/completions',
    body: {
      model,
      stream: true,
      stream_options: { include_usage: true },
      messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.map(messageOf)],
      ...(tools.length > 0 && { tools: tools.map(functionOf) }),
      // OpenAI's newer models refuse the parameter name that all others accept.
      [baseUrl === openAiUrl ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { top_p: topP }),
    },
  }),
  handleMessage,
  models: { path: '/models', listField: 'data', idField: 'id' },
};

function messageOf({ role, content, toolCallId, toolCalls }: ChatMessage): object {
  if (role === 'tool') return { role, tool_call_id: toolCallId, content };
  if (role === 'user' || toolCalls.length === 0) return { role, content };
  const calls = toolCalls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role, content: content === '' ? null : content, tool_calls: calls };
}

function handleMessage(event: unknown, answer: AssistantAnswer): void {
  if (event === '[DONE]') {
    answer.complete();
    return;
  }
  if (valueAt(event, 'error')) throw new AnswerError('unavailable');
  answer.usage(countAt(event, 'usage', 'prompt_tokens'), countAt(event, 'usage', 'completion_tokens'));
  const choice = valueAt(event, 'choices', 0);
  answer.text(textAt(choice, 'delta', 'content'));
  listAt(choice, 'delta', 'tool_calls').forEach((call, position) => {
    answer.tool(countAt(call, 'index') ?? position, {
      id: textAt(call, 'id') ?? '',
      name: textAt(call, 'function', 'name') ?? '',
      json: textAt(call, 'function', 'arguments') ?? '',
    });
  });
  const reason = textAt(choice, 'finish_reason');
  if (reason !== undefined) answer.stop(reason === 'length' ? 'max_tokens' : 'end_turn');
}
