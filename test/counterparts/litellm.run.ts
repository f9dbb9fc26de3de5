/**
 * The assistant through LiteLLM’s proxy, which has OpenAI's interface, in front of fakes of three vendors and a model
 * of its own.
 */
import test, { type ExecutionContext } from 'ava';
import { type VendorId, vendorIds } from '../../actors/assistant/profiles.ts';
import { assisted, path } from '../kit/assisted.ts';
import { type Litellm, startLitellm } from '../kit/litellm.ts';
import { answering, helloTurn, modelKey, startModelServer, toolTurn } from '../kit/model-server.ts';

const limitMs = 240_000;
const key = 'sk-of-the-proxy';
const mock = 'A “mock” of LiteLLM’s own 😀';
/** Keyed by its own name for each: the provider that it calls, and where. */
const behind: Readonly<Record<VendorId, (url: string) => object>> = {
  openai: (url) => ({ model: 'openai/gpt', api_base: `${url}/openai/v1` }),
  anthropic: (url) => ({ model: 'anthropic/opus', api_base: `${url}/anthropic` }),
  ollama: (url) => ({ model: 'ollama_chat/llama', api_base: `${url}/ollama` }),
};
const ends: (() => unknown)[] = [];
let vendors: Awaited<ReturnType<typeof startModelServer>>;
let litellm: Litellm;

test.before('LiteLLM is started', async (t) => {
  t.timeout(limitMs);
  vendors = await startModelServer({ teardown: (end) => ends.push(end) });
  const models = vendorIds.map((id) => ({
    model_name: id,
    litellm_params: { ...behind[id](vendors.url), api_key: modelKey },
  }));
  litellm = await startLitellm({
    model_list: [
      ...models,
      { model_name: 'mock', litellm_params: { model: 'openai/gpt', api_key: 'none', mock_response: mock } },
    ],
    general_settings: { master_key: key },
    litellm_settings: { num_retries: 0, drop_params: true },
  });
  ends.push(() => litellm.stop());
});
test.after.always('and stopped', async () => {
  for (const end of ends) await end();
});

async function assistantOf(t: ExecutionContext, model: string, apiKey = key) {
  const { stream, phone } = await assisted(t, {
    policy: { default: { id: 'default', provider: 'openai', model } },
    providers: { providers: new Map([['openai', { baseUrl: litellm.baseUrl, key: apiKey }]]) },
  });
  return { stream, phone };
}

const textOf = (events: readonly { readonly kind: string; readonly delta?: string }[]): string =>
  events.map(({ delta = '' }) => delta).join('');

for (const vendor of vendorIds) {
  test.serial(`${vendor} answers by it: text, tools, usage, and why it ends`, async (t) => {
    const { stream } = await assistantOf(t, vendor);
    vendors.state.answer = answering(helloTurn);
    const hello = await stream({ system: 'Be brief.', max_tokens: 100 });
    t.is(textOf(hello.events), helloTurn.text.join(''), hello.text);
    t.deepEqual(hello.events.slice(-2), [
      { kind: 'usage', promptTokens: 7, completionTokens: 3, totalTokens: 10 },
      { kind: 'finish', stopReason: 'end_turn' },
    ]);
    t.is(vendors.received.at(-1)?.provider, vendor);
    t.true(JSON.stringify(vendors.received.at(-1)?.body).includes('Be brief.'));

    vendors.state.answer = answering(toolTurn);
    const tools = toolTurn.tools.map(({ name }) => ({
      name,
      description: name,
      inputSchema: { properties: {} },
    }));
    const { events } = await stream({ tools });
    const calls = events.filter(({ kind }) => kind === 'tool-call');
    t.deepEqual(
      calls.map((call) => call.kind === 'tool-call' && [call.name, call.args]),
      toolTurn.tools.map(({ name, args }) => [name, args]),
    );
    t.deepEqual(events.at(-1), { kind: 'finish', stopReason: 'tool_use' });

    vendors.state.answer = answering({ ...helloTurn, isCutByLength: true });
    t.deepEqual((await stream()).events.at(-1), { kind: 'finish', stopReason: 'max_tokens' });
  });
}

test.serial('a model of its own answers, and its models are told', async (t) => {
  const { stream, phone } = await assistantOf(t, 'mock');
  const { events } = await stream();
  t.is(textOf(events), mock);
  t.deepEqual(events.at(-1), { kind: 'finish', stopReason: 'end_turn' });
  const { models } = (await phone.call('GET', `${path}/models`)).body;
  t.deepEqual(models.toSorted(), [...vendorIds, 'mock'].toSorted());
});

const rejected = 'The assistant provider rejected the request.';
const unavailable = 'The assistant provider cannot be reached at the moment.';

test.serial(
  'a refusal or a failing vendor is reported in fixed words, and never as a lost session',
  async (t) => {
    const failure = async (model: string, apiKey?: string) => {
      const { status, events } = await (await assistantOf(t, model, apiKey)).stream();
      t.is(status, 200);
      t.deepEqual(events.at(-1), { kind: 'finish', stopReason: 'error' });
      return events.flatMap((event) => (event.kind === 'error' ? [event.message] : []));
    };
    // Without a database it cannot look keys up, which is a 400 of its own.
    t.deepEqual(await failure('mock', 'sk-wrong'), [rejected]);
    t.deepEqual(await failure('nothing-of-the-kind'), [rejected]);
    vendors.state.answer = (response) => response.writeHead(500).end('{"error":"words of the vendor"}');
    t.deepEqual(await failure('openai'), [unavailable]);
    vendors.state.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n', () =>
        response.destroy(),
      );
    };
    t.deepEqual(await failure('openai'), [unavailable]);
  },
);
