/**
 * Fakes of Anthropic, OpenAI and Ollama on one port, each below a separate path, built from their documentation. The
 * library of each vendor reads them like the real one (test/behaviour/assistant/vendors.test.ts).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { ConfiguredProviders } from '../../actors/assistant/policy.ts';
import type { VendorId } from '../../actors/assistant/profiles.ts';

export interface ModelTurn {
  readonly text: readonly string[];
  readonly tools: readonly { readonly id: string; readonly name: string; readonly args: object }[];
  readonly isCutByLength: boolean;
  readonly prompt: number;
  readonly completion: number;
}

export const helloTurn: ModelTurn = {
  text: ['Hel', 'lo\n\n“wörld” 😀'],
  tools: [],
  isCutByLength: false,
  prompt: 7,
  completion: 3,
};
export const toolTurn: ModelTurn = {
  ...helloTurn,
  text: ['Let me see.'],
  tools: [
    { id: 'one', name: 'search', args: { query: 'a "b" \n\n c', limit: 3 } },
    { id: 'two', name: 'now', args: {} },
  ],
};

/** The whole body of an answer. */
export const bodyOf: Readonly<Record<VendorId, (turn: ModelTurn) => string>> = {
  anthropic: anthropicBody,
  openai: openAiBody,
  ollama: ollamaBody,
};

const types: Readonly<Record<VendorId, string>> = {
  anthropic: 'text/event-stream; charset=utf-8',
  openai: 'text/event-stream; charset=utf-8',
  ollama: 'application/x-ndjson',
};
const streamPaths: Readonly<Record<string, VendorId>> = {
  '/anthropic/v1/messages': 'anthropic',
  '/openai/v1/chat/completions': 'openai',
  '/subscription/v1/chat/completions': 'openai',
  '/ollama/api/chat': 'ollama',
};
export const modelKey = 'sk-operator-key';

interface ReceivedByModel {
  readonly provider: VendorId;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: what a vendor would be sent
  readonly body: any;
  readonly response: ServerResponse;
  /** Resolves when the caller has left, or has its answer. */
  readonly closed: Promise<void>;
}

export type Answering = (response: ServerResponse, provider: VendorId) => void;

export const answering =
  (turn: ModelTurn): Answering =>
  (response, provider) =>
    response.writeHead(200, { 'content-type': types[provider] }).end(bodyOf[provider](turn));

export async function startModelServer(t: Pick<ExecutionContext, 'teardown'>) {
  const received: ReceivedByModel[] = [];
  /** `tokens`: the accepted tokens of a subscription. */
  const state = { answer: answering(helloTurn), modelLists: 0, isListing: true, tokens: new Set<string>() };
  const server = createServer(async (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    let text = '';
    for await (const chunk of request) text += chunk;
    const provider = streamPaths[path];
    if (provider === undefined) {
      state.modelLists += 1;
      const list = state.isListing ? listAt(path) : undefined;
      response.writeHead(list === undefined ? 500 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(list ?? { error: 'words of the provider' }));
      return;
    }
    const closed = new Promise<void>((resolve) => {
      response.on('close', () => resolve());
    });
    received.push({ provider, headers: request.headers, body: JSON.parse(text), response, closed });
    const isAccepted = path.startsWith('/subscription/')
      ? state.tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')
      : hasKey(provider, request);
    if (!isAccepted) response.writeHead(401).end(JSON.stringify({ error: 'words of the provider' }));
    else state.answer(response, provider);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${port}`;
  const providers: ConfiguredProviders = new Map([
    ['anthropic', { baseUrl: `${url}/anthropic`, key: modelKey }],
    ['openai', { baseUrl: `${url}/openai/v1`, key: modelKey }],
    ['ollama', { baseUrl: `${url}/ollama`, key: undefined }],
    ['subscription', { baseUrl: `${url}/subscription/v1`, key: undefined }],
  ]);
  return { url, port, received, state, providers };
}

function hasKey(provider: VendorId, { headers }: IncomingMessage): boolean {
  if (provider === 'anthropic')
    return headers['x-api-key'] === modelKey && headers['anthropic-version'] === '2023-06-01';
  return provider === 'ollama' || headers.authorization === `Bearer ${modelKey}`;
}

function listAt(path: string): object | undefined {
  const model = (id: string) => ({ id, object: 'model', type: 'model', created: 0, owned_by: 'x' });
  if (path === '/ollama/api/tags') return { models: [{ name: 'llama:latest', model: 'llama:latest' }] };
  if (path === '/anthropic/v1/models') return { data: [model('opus')], has_more: false };
  if (path === '/openai/v1/models') return { object: 'list', data: [model('gpt'), { id: 'not a model' }] };
  return undefined;
}

// --- the answers of each provider -------------------------------------------------------------------------------

/** Cut in two, because arguments come in pieces. */
const halves = (text: string): readonly string[] => [
  text.slice(0, text.length / 2),
  text.slice(text.length / 2),
];

function anthropicBody({ text, tools, isCutByLength, prompt, completion }: ModelTurn): string {
  const said: { type: string }[] = [];
  const say = (type: string, fields: object) => said.push({ type, ...fields });
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'opus', content: [] };
  say('message_start', {
    message: {
      ...message,
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: prompt, output_tokens: 1 },
    },
  });
  say('ping', {});
  say('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  for (const piece of text)
    say('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } });
  say('content_block_stop', { index: 0 });
  tools.forEach(({ id, name, args }, position) => {
    const index = position + 1;
    say('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } });
    const pieces = Object.keys(args).length === 0 ? [''] : halves(JSON.stringify(args));
    for (const piece of pieces) {
      say('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: piece } });
    }
    say('content_block_stop', { index });
  });
  const stop_reason = isCutByLength ? 'max_tokens' : tools.length > 0 ? 'tool_use' : 'end_turn';
  say('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: completion } });
  say('message_stop', {});
  return said.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('');
}

function openAiBody({ text, tools, isCutByLength, prompt, completion }: ModelTurn): string {
  const chunk = (fields: object) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt',
    ...fields,
  });
  const choice = (delta: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason }], usage: null });
  const calls = tools.flatMap(({ id, name, args }, index) => {
    const [first = '', second = ''] = halves(JSON.stringify(args));
    return [
      choice({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: first } }] }),
      choice({ tool_calls: [{ index, function: { arguments: second } }] }),
    ];
  });
  const reason = isCutByLength ? 'length' : tools.length > 0 ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  const said = [
    choice({ role: 'assistant', content: '' }),
    ...text.map((content) => choice({ content })),
    ...calls,
    choice({}, reason),
    chunk({ choices: [], usage }),
  ];
  return `${said.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`;
}

function ollamaBody({ text, tools, isCutByLength, prompt, completion }: ModelTurn): string {
  const line = (message: object, fields: object = { done: false }) =>
    JSON.stringify({
      model: 'llama',
      created_at: '2026-01-01T00:00:00Z',
      message: { role: 'assistant', ...message },
      ...fields,
    });
  const calls = tools.map(({ name, args }) => ({ function: { name, arguments: args } }));
  const end = {
    done: true,
    done_reason: isCutByLength ? 'length' : 'stop',
    prompt_eval_count: prompt,
    eval_count: completion,
  };
  const said = [
    ...text.map((content) => line({ content })),
    ...(calls.length > 0 ? [line({ content: '', tool_calls: calls })] : []),
    line({ content: '' }, end),
  ];
  return said.map((each) => `${each}\n`).join('');
}
