/** Ollama's chat API: one line of JSON per piece. It neither gives nor takes ids for tool calls. */
import type { AssistantAnswer } from './answer.ts';
import type { ChatMessage } from './chat-request.ts';
import { AnswerError } from './failure.ts';
import { countAt, functionOf, listAt, type Provider, textAt, valueAt } from './provider.ts';

export const ollama: Provider = {
  headers: () => ({}),
  framing: 'lines',
  request: ({ system, messages, tools }, model, { maxTokens, temperature, topP }) => ({
    path: '/api/chat',
    body: {
      model,
      stream: true,
      messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.map(messageOf)],
      ...(tools.length > 0 && { tools: tools.map(functionOf) }),
      options: {
        num_predict: maxTokens,
        ...(temperature !== undefined && { temperature }),
        ...(topP !== undefined && { top_p: topP }),
      },
    },
  }),
  handleMessage,
  models: { path: '/api/tags', listField: 'models', idField: 'name' },
};

function messageOf({ role, content, toolCalls, name }: ChatMessage): object {
  if (role === 'tool') return { role, content, tool_name: name };
  const calls = toolCalls.map(({ name: of, args }) => ({ function: { name: of, arguments: args } }));
  return { role, content, ...(calls.length > 0 && { tool_calls: calls }) };
}

function handleMessage(event: unknown, answer: AssistantAnswer): void {
  if (valueAt(event, 'error') !== undefined) throw new AnswerError('unavailable');
  answer.text(textAt(event, 'message', 'content'));
  for (const call of listAt(event, 'message', 'tool_calls')) {
    const json = JSON.stringify(valueAt(call, 'function', 'arguments') ?? {});
    answer.tool(0, { name: textAt(call, 'function', 'name') ?? '', json });
    answer.toolEnds(0);
  }
  if (valueAt(event, 'done') !== true) return;
  answer.usage(countAt(event, 'prompt_eval_count'), countAt(event, 'eval_count'));
  answer.stop(textAt(event, 'done_reason') === 'length' ? 'max_tokens' : 'end_turn');
  answer.complete();
}
