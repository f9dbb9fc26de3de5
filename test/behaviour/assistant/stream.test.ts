/** The assistant over HTTP (docs/protocol/assistant.md). */
import test from 'ava';
import { vendorIds } from '../../../actors/assistant/profiles.ts';
import { AssistantBudget } from '../../../actors/user/assistant/contract.ts';
import { createVerifyBearer } from '../../../gateway/admission/bearer.ts';
import { cookieSessions } from '../../kit/account.ts';
import { assisted, eventsIn, path, profileOf } from '../../kit/assisted.ts';
import { Device } from '../../kit/device.ts';
import { turn } from '../../kit/gateway.ts';
import { answering, helloTurn, modelKey, toolTurn } from '../../kit/model-server.ts';
import { sessionTokens, startServer } from '../../kit/server.ts';

for (const provider of vendorIds) {
  test(`${provider} answers, as a stream of events`, async (t) => {
    const { stream, model } = await assisted(t, { policy: { default: profileOf(provider) } });
    const { status, headers, text, events } = await stream({
      provider: 'other',
      model: 'other',
      profile: 'x',
    });
    t.is(status, 200);
    t.is(headers.get('content-type'), 'text/event-stream');
    t.is(headers.get('cache-control'), 'no-cache, no-transform');
    t.is(headers.get('x-accel-buffering'), 'no');
    t.false(text.includes('\r'));
    t.deepEqual(events, [
      { kind: 'text-delta', delta: 'Hel' },
      { kind: 'text-delta', delta: 'lo\n\n“wörld” 😀' },
      { kind: 'usage', promptTokens: 7, completionTokens: 3, totalTokens: 10 },
      { kind: 'finish', stopReason: 'end_turn' },
    ]);
    t.is(model.received.length, 1);
    t.is(model.received[0]?.body.model, `${provider}-model`);
    t.true(model.received[0]?.body.stream);
  });
}

test('the bearer alone of a cookie session asks the assistant, and nothing that the account holds', async (t) => {
  const { phone, server } = await assisted(t);
  const web = await phone.another({ api: cookieSessions });
  const bearer = web.account.access;
  t.true(bearer.startsWith('2:'));
  const body = { messages: [{ role: 'user', content: 'hello' }] };
  const alone = () => server.call('POST', `${path}/stream`, { bearer, body });
  t.is((await alone()).status, 200);
  for (const read of ['usage', 'models', 'config']) {
    t.is((await server.call('GET', `${path}/${read}`, { bearer })).status, 200, read);
  }
  t.is((await server.call('GET', `${path}/usage`, { cookie: web.account.cookie })).status, 401);
  const long = { messages: [{ role: 'user', content: 'x'.repeat(1_200_000) }] };
  t.is((await server.call('POST', `${path}/stream`, { bearer, body: long })).status, 200, 'a large body');
  t.is((await server.call('POST', '/v1/items', { bearer, body: {} })).status, 401);
  const item = { content: 'x'.repeat(1_200_000) };
  t.is((await server.call('POST', '/v1/items', { bearer, body: { items: [item] } })).status, 401);
  t.is((await server.call('GET', '/v1/sessions', { bearer })).status, 401);
  const cookieAlone = { body, cookie: web.account.cookie };
  t.is(
    (await server.call('POST', `${path}/stream`, cookieAlone)).status,
    401,
    'as a page of others sends it',
  );
  await phone.call('DELETE', `/v1/sessions/${await web.sessionUuid()}`);
  t.is((await alone()).status, 401, 'after its session');
  for (const read of ['usage', 'models']) {
    t.is((await server.call('GET', `${path}/${read}`, { bearer })).status, 401, read);
  }
  t.is((await server.call('POST', `${path}/stream`, { bearer, body: long })).status, 401);
});

const conversation = {
  system: 'Be brief.',
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'What time is it, and where?' },
    {
      role: 'assistant',
      content: 'Let me see.',
      toolCalls: [
        { id: 'one', name: 'now' },
        { id: 'two', name: 'place', args: { of: 'me' } },
      ],
    },
    { role: 'tool', content: 'noon', toolCallId: 'one', name: 'now' },
    { role: 'tool', content: 'here', toolCallId: 'two', name: 'place' },
  ],
  tools: [{ name: 'now', description: 'The time', inputSchema: { properties: {} } }],
  temperature: 7,
  top_p: 0.5,
  max_tokens: 1e9,
};

test('a conversation with tools reaches each provider in its own form, within what may be asked', async (t) => {
  const { stream, model, setFlag } = await assisted(t, {
    policy: {
      profiles: new Map(vendorIds.map((id) => [id, { ...profileOf(id, id), maxOutputTokens: 1_000 }])),
    },
  });
  model.state.answer = answering(toolTurn);
  for (const provider of vendorIds) {
    await setFlag('AI_PROFILE', provider);
    t.deepEqual((await stream(conversation)).events.at(-1), { kind: 'finish', stopReason: 'tool_use' });
  }
  const [anthropic, openai, ollama] = model.received.map(({ body }) => body);
  const schema = { type: 'object', properties: {} };
  t.deepEqual(anthropic, {
    model: 'anthropic-model',
    max_tokens: 1_000,
    stream: true,
    temperature: 1,
    system: 'Be brief.\n\nBe kind.',
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'What time is it, and where?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'one', name: 'now', input: {} },
          { type: 'tool_use', id: 'two', name: 'place', input: { of: 'me' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'one', content: 'noon' },
          { type: 'tool_result', tool_use_id: 'two', content: 'here' },
        ],
      },
    ],
    tools: [{ name: 'now', description: 'The time', input_schema: schema }],
  });
  const tools = [
    { type: 'function', function: { name: 'now', description: 'The time', parameters: schema } },
  ];
  t.like(openai, {
    stream_options: { include_usage: true },
    max_tokens: 1_000,
    temperature: 2,
    top_p: 0.5,
    tools,
  });
  t.deepEqual(openai.messages[0], { role: 'system', content: 'Be brief.\n\nBe kind.' });
  t.deepEqual(openai.messages[2].tool_calls[1], {
    id: 'two',
    type: 'function',
    function: { name: 'place', arguments: '{"of":"me"}' },
  });
  t.deepEqual(openai.messages[3], { role: 'tool', tool_call_id: 'one', content: 'noon' });
  t.like(ollama, { options: { num_predict: 1_000, temperature: 2, top_p: 0.5 }, tools });
  t.deepEqual(ollama.messages[2].tool_calls[1], { function: { name: 'place', arguments: { of: 'me' } } });
  t.deepEqual(ollama.messages[3], { role: 'tool', content: 'noon', tool_name: 'now' });
});

test('everybody is told which providers are set up, and signed-in users their models', async (t) => {
  const { server, phone, model } = await assisted(t);
  const config = await server.call('GET', `${path}/config`);
  t.deepEqual(JSON.parse(config.text), {
    providers: ['anthropic', 'openai', 'ollama'],
    defaultProvider: 'openai',
    defaultModel: 'openai-model',
  });
  const modelsOf = async (query: string) => (await phone.call('GET', `${path}/models/${query}`)).body;
  t.deepEqual(await modelsOf(''), { provider: 'openai', models: ['gpt'] });
  t.deepEqual(await modelsOf('?provider=openai-compatible'), { provider: 'openai', models: ['gpt'] });
  t.deepEqual(await modelsOf('?provider=anthropic'), { provider: 'anthropic', models: ['opus'] });
  t.is(model.state.modelLists, 2);
  model.state.isListing = false;
  t.deepEqual(await modelsOf('?provider=ollama'), { provider: 'ollama', models: [] });
  await server.advance(31_000);
  model.state.isListing = true;
  t.deepEqual(await modelsOf('?provider=ollama'), { provider: 'ollama', models: ['llama:latest'] });
  t.is((await modelsOf('?provider=nobody')).error.tag, 'provider-not-configured');
  t.is((await server.call('GET', `${path}/models`)).status, 401);
  t.is((await server.call('POST', `${path}/stream`, { body: {} })).status, 401);
});

test('the user’s profile goes before a role’s, and that before the default; one that is not there answers nobody', async (t) => {
  const profiles = new Map(
    ['mine', 'pro', 'team'].map((id) => [id, { ...profileOf('openai', id), model: id }]),
  );
  const roles = new Map([
    ['PRO_USER', 'pro'],
    ['CORE_USER', 'team'],
  ]);
  const { stream, setFlag, model } = await assisted(t, { policy: { profiles, roles } });
  const answeredBy = async () => {
    const { status } = await stream();
    return status === 200 ? model.received.at(-1)?.body.model : status;
  };
  t.is(await answeredBy(), 'team');
  await setFlag('AI_PROFILE', 'mine');
  t.is(await answeredBy(), 'mine');
  await setFlag('AI_PROFILE', 'gone');
  t.is(await answeredBy(), 503);
  t.is((await setFlag('AI_PROFILE', 'no id')).status, 400);
  await setFlag('AI_PROFILE', null);
  t.is(await answeredBy(), 'team');
});

test('a caller without permission, an empty request and a user without a profile are refused in this order, and nothing counts', async (t) => {
  const { stream, setFlag, usage, phone, model } = await assisted(t, { policy: { default: undefined } });
  const refused = async (body: object) => {
    const { status, text } = await stream(body);
    return `${status} ${JSON.parse(text).error.tag}`;
  };
  await setFlag('AI_ENABLED', 'false');
  t.is(await refused({ messages: 'no list' }), '403 ai-disabled');
  await setFlag('AI_ENABLED', 'true');
  const wrong = [
    { messages: 'no list' },
    { messages: [{ role: 'nobody', content: '' }] },
    { messages: [{ role: 'user', content: 7 }] },
    { messages: Array.from({ length: 501 }, () => ({ role: 'user', content: 'x' })) },
    { tools: Array.from({ length: 129 }, () => ({ name: 'x' })) },
    { system: 7 },
    { temperature: 'hot' },
  ];
  for (const body of wrong) t.is(await refused(body), '400 invalid-request');
  t.is(await refused({}), '503 assistant-unavailable');
  t.is((await usage()).used, 0);
  t.is(model.received.length, 0);
  const keys = { label: 'b', scope: 'read', wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const { token } = (await phone.call('POST', '/v1/mcp-tokens', { body: keys })).body;
  const opened = await phone.call('POST', '/v1/mcp-tokens/authenticate', { body: { token } });
  const reader = new Device(phone.server, { ...phone.account, access: opened.body.session.access_token });
  const { status, text } = await stream({}, reader);
  t.deepEqual([status, JSON.parse(text).error.tag], [403, 'read-only-access']);
});

test('a day has so many answers, and an administrator may set another number for a user', async (t) => {
  const { server, stream, setFlag, usage } = await assisted(t, { policy: { dailyRequestsMax: 2 } });
  const midnight = new Date(Math.ceil((server.clock.nowMs() + 1) / 86_400_000) * 86_400_000).toISOString();
  t.deepEqual(await usage(), { used: 0, limit: 2, resetsAt: midnight });
  await stream();
  await stream();
  t.deepEqual(await usage(), { used: 2, limit: 2, resetsAt: midnight });
  const { status, headers, text } = await stream();
  t.is(status, 429);
  t.like(JSON.parse(text).error, { tag: 'ai-rate-limited', limit: 2, resetsAt: midnight });
  t.is(headers.get('retry-after'), String(Math.ceil((Date.parse(midnight) - server.clock.nowMs()) / 1_000)));
  await setFlag('AI_REQUEST_LIMIT', '3');
  t.is((await stream()).status, 200);
  t.is((await stream()).status, 429);
  t.is((await setFlag('AI_REQUEST_LIMIT', '0')).status, 200);
  t.is((await usage()).limit, 2, 'that of all accounts');
  await server.advance(86_400_000);
  t.is((await usage()).used, 0);
  t.is((await stream()).status, 200);
});

test('where no assistant is set up, the refusal says that it lasts, and asks nobody to try again', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const refused = await phone.call('POST', `${path}/stream`, {
    body: { messages: [{ role: 'user', content: 'hello' }] },
  });
  t.like(refused, { status: 503, body: { error: { tag: 'assistant-unavailable' } } });
  t.is(refused.headers.get('retry-after'), null);
  t.regex(refused.body.error.message, /Asking again does not help: an administrator/);
});

test('as many of many simultaneous requests are answered as a day allows', async (t) => {
  const { stream, usage, model } = await assisted(t, {
    policy: { dailyRequestsMax: 5, streamsPerUserMax: 100 },
  });
  const all = await Promise.all(Array.from({ length: 20 }, () => stream()));
  t.is(all.filter(({ status }) => status === 200).length, 5);
  t.is(all.filter(({ status }) => status === 429).length, 15);
  t.is(model.received.length, 5);
  t.is((await usage()).used, 5);
});

test('one user has four streams at once, and gets the places of those that are over', async (t) => {
  const { ask, model, server, stream } = await assisted(t);
  model.state.answer = () => {};
  const leave = new AbortController();
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask({}, leave.signal)));
  t.is(answers.filter(({ status }) => status === 200).length, 4);
  const refused = answers.filter(({ status }) => status === 429);
  t.is(refused.length, 6);
  for (const each of refused) {
    t.true((await each.text()).includes('assistant-busy'));
    t.is(each.headers.get('retry-after'), '5');
  }
  while (model.received.length < 4) await turn();
  leave.abort();
  await Promise.all(model.received.map(({ closed }) => closed));
  model.state.answer = answering(helloTurn);
  let status = 0;
  await server.until(() => {
    if (status !== 200) stream().then((answer) => (status = answer.status));
    return status === 200;
  }, 5_000);
  t.is(status, 200);
});

test('a place whose gateway died comes back when its time is over', async (t) => {
  const { stream, server, phone } = await assisted(t, { policy: { streamsPerUserMax: 1 } });
  const credentials = createVerifyBearer(sessionTokens)(`Bearer ${phone.account.access}`, '');
  if (credentials === undefined) throw new Error('the bearer of a device is good');
  const user = server.host.actors.get(AssistantBudget, phone.account.userUuid);
  // Nobody ends this one.
  t.true('ok' in (await user.ask.beginAssistantStream({ credentials, isValid: true })));
  t.is((await stream()).status, 429);
  await server.clock.leap(14 * 60_000);
  t.is((await stream()).status, 429);
  await server.clock.leap(2 * 60_000);
  t.is((await stream()).status, 200);
});

test('a process passes on so many at once, whoever asks', async (t) => {
  const { ask, model, stream, server } = await assisted(t, { providers: { streamsMax: 1 } });
  model.state.answer = () => {};
  const leave = new AbortController();
  t.is((await ask({}, leave.signal)).status, 200);
  const bob = await server.device('bob@example.org');
  const refused = await ask({}, leave.signal, bob);
  t.is(refused.status, 503);
  t.true((await refused.text()).includes('assistant-unavailable'));
  leave.abort();
  await model.received[0]?.closed;
  model.state.answer = answering(helloTurn);
  while ((await stream({}, bob)).status !== 200) await turn();
  t.pass();
});

test('a request that no provider has heard of does not count, and one that it has heard of does', async (t) => {
  const nowhere = new Map([['openai', { baseUrl: 'http://127.0.0.1:9', key: undefined }]] as const);
  const { stream, usage, server } = await assisted(t, { providers: { providers: nowhere } });
  const { status, events } = await stream();
  t.is(status, 200);
  t.deepEqual(events, [
    { kind: 'error', message: 'The assistant provider cannot be reached at the moment.' },
    { kind: 'finish', stopReason: 'error' },
  ]);
  let used = 1;
  await server.until(() => {
    usage().then((usageNow) => (used = usageNow.used));
    return used === 0;
  }, 5_000);
  const heard = await assisted(t);
  heard.model.state.answer = (response) => response.writeHead(500).end();
  await heard.stream();
  t.is((await heard.usage()).used, 1);
});

test('while a provider is silent the stream is kept alive, until that has taken too long', async (t) => {
  const { ask, model, server } = await assisted(t);
  model.state.answer = () => {};
  const answer = await ask();
  while (model.received.length === 0) await turn();
  for (let seconds = 0; seconds < 125; seconds += 5) {
    await server.clock.advance(5_000);
    await turn();
  }
  const text = await answer.text();
  t.true(text.split(': ping\n\n').length > 5);
  t.deepEqual(eventsIn(text), [
    { kind: 'error', message: 'The assistant provider took too long to answer.' },
    { kind: 'finish', stopReason: 'error' },
  ]);
  await model.received[0]?.closed;
});

test('a key goes to its provider, and to nobody else', async (t) => {
  const { stream, model } = await assisted(t);
  await stream();
  t.is(model.received[0]?.headers.authorization, `Bearer ${modelKey}`);
  t.is(model.received[0]?.headers['x-api-key'], undefined);
});
