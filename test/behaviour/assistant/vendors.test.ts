/**
 * Compares the fakes of providers with the library of each vendor: the library reads exactly what the fake sent.
 * Anthropic's library is the last line with this server's version of the interface, 2023-06-01; later ones speak
 * 2026-10-21.
 */
import Anthropic from '@anthropic-ai/sdk';
import test from 'ava';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { answering, helloTurn, modelKey, startModelServer, toolTurn } from '../../kit/model-server.ts';

const messages = [{ role: 'user' as const, content: 'Hello?' }];
const text = toolTurn.text.join('');

test('anthropic’s library reads the fake of Anthropic', async (t) => {
  const { url, state } = await startModelServer(t);
  state.answer = answering(toolTurn);
  const client = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: modelKey, maxRetries: 0 });
  const answer = await client.messages.stream({ model: 'opus', max_tokens: 100, messages }).finalMessage();
  t.like(answer, { stop_reason: 'tool_use', usage: { input_tokens: 7, output_tokens: 3 } });
  t.like(answer.content[0], { type: 'text', text });
  toolTurn.tools.forEach(({ id, name, args }, index) => {
    t.like(answer.content[index + 1], { type: 'tool_use', id, name, input: args });
  });
  state.answer = answering({ ...helloTurn, isCutByLength: true });
  const cut = await client.messages.stream({ model: 'opus', max_tokens: 100, messages }).finalMessage();
  t.is(cut.stop_reason, 'max_tokens');
  const models = await client.models.list();
  t.deepEqual(
    models.data.map(({ id }) => id),
    ['opus'],
  );
  const stranger = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: 'wrong', maxRetries: 0 });
  await t.throwsAsync(stranger.messages.create({ model: 'opus', max_tokens: 1, messages }), {
    instanceOf: Anthropic.AuthenticationError,
  });
});

test('OpenAI’s library reads the fake of OpenAI', async (t) => {
  const { url, state } = await startModelServer(t);
  state.answer = answering(toolTurn);
  const client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: modelKey, maxRetries: 0 });
  const stream = client.chat.completions.stream({
    model: 'gpt',
    messages,
    stream_options: { include_usage: true },
  });
  const answer = await stream.finalChatCompletion();
  t.like(answer.usage, { prompt_tokens: 7, completion_tokens: 3 });
  const [choice] = answer.choices;
  t.is(choice?.message.content, text);
  t.is(choice?.finish_reason, 'tool_calls');
  t.deepEqual(
    choice?.message.tool_calls?.map((call) =>
      call.type === 'function' ? [call.id, call.function.name, JSON.parse(call.function.arguments)] : [],
    ),
    toolTurn.tools.map(({ id, name, args }) => [id, name, args]),
  );
  const models = await client.models.list();
  t.true(models.data.some(({ id }) => id === 'gpt'));
});

test('Ollama’s library reads the fake of Ollama', async (t) => {
  const { url, state } = await startModelServer(t);
  state.answer = answering(toolTurn);
  // Its library accepts only a host, and the fake is below a path.
  const below: typeof fetch = (input, init) => fetch(String(input).replace('/api/', '/ollama/api/'), init);
  const client = new Ollama({ host: url, fetch: below });
  const parts = [];
  for await (const part of await client.chat({ model: 'llama', messages, stream: true })) parts.push(part);
  t.is(parts.map(({ message }) => message.content).join(''), text);
  t.deepEqual(
    parts.flatMap(({ message }) => message.tool_calls ?? []).map((call) => call.function),
    toolTurn.tools.map(({ name, args }) => ({ name, arguments: args })),
  );
  t.like(parts.at(-1), { done: true, done_reason: 'stop', prompt_eval_count: 7, eval_count: 3 });
  t.deepEqual(
    (await client.list()).models.map(({ name }) => name),
    ['llama:latest'],
  );
});
