/** Misbehaving providers and code hosts, readers that leave or read nothing, and what leaks. */
import type { ServerResponse } from 'node:http';
import { createGzip } from 'node:zlib';
import test from 'ava';
import { vendorIds } from '../../actors/assistant/profiles.ts';
import { assisted, eventsIn, openStream, profileOf, streamed } from '../kit/assisted.ts';
import { startConfiguredServer } from '../kit/configured-server.ts';
import { Device } from '../kit/device.ts';
import { startFakeCodeHost, writer } from '../kit/fake-code-host.ts';
import { openRaw, turn } from '../kit/gateway.ts';
import { answering, helloTurn, modelKey, startModelServer } from '../kit/model-server.ts';

const mebibyte = 1_048_576;
const failed = (message: string) => [
  { kind: 'error', message },
  { kind: 'finish', stopReason: 'error' },
];

/** Endless text, as fast as the reader takes it. */
function writeForever(response: ServerResponse, wrote: (bytes: number) => void): void {
  const event = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(16_000) } }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const more = () => {
    while (!response.destroyed && response.write(event)) wrote(event.length);
  };
  response.on('drain', more);
  more();
}

test('no status of a provider becomes one of this server, and none of its words are told', async (t) => {
  const { stream, model } = await assisted(t);
  const words = 'words of the provider';
  for (const [status, message] of [
    [401, 'The assistant provider does not accept this server. Its operator has to see to that.'],
    [400, 'The assistant provider rejected the request.'],
    [429, 'The assistant provider is busy at the moment. Please try again later.'],
    [500, 'The assistant provider cannot be reached at the moment.'],
    [302, 'The assistant provider cannot be reached at the moment.'],
    [204, 'The assistant provider cannot be reached at the moment.'],
  ] as const) {
    model.state.answer = (response) =>
      response.writeHead(status, { location: `${model.url}/openai/v1/chat/completions` }).end(words);
    const answer = await stream();
    t.is(answer.status, 200);
    t.deepEqual(answer.events, failed(message), `${status}`);
    t.false(answer.text.includes(words));
  }
  // The redirect got only one request, too.
  t.is(model.received.length, 6);
});

test('an answer that breaks off, is a bomb or has no end, ends as one that failed', async (t) => {
  const { stream, model } = await assisted(t);
  model.state.answer = (response) => {
    response.writeHead(200).write('data: {"choices":[{"delta":{"content":"par"}}]}\n\n');
    setImmediate(() => response.socket?.destroy());
  };
  t.deepEqual((await stream()).events.slice(-2), failed('The answer of the assistant provider broke off.'));
  const tooLarge = failed('The answer of the assistant provider is too large.');
  model.state.answer = (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    const bomb = createGzip();
    bomb.on('error', () => {});
    bomb.pipe(response);
    for (let megabytes = 0; megabytes < 8; megabytes += 1) bomb.write(Buffer.alloc(mebibyte, 'x'));
  };
  t.deepEqual((await stream()).events, tooLarge);
  let sentBytes = 0;
  model.state.answer = (response) =>
    writeForever(response, (bytes) => {
      sentBytes += bytes;
    });
  const { events, text } = await stream();
  t.deepEqual(events.slice(-2), tooLarge);
  t.true(text.length < 17 * mebibyte && sentBytes < 40 * mebibyte, `${text.length} ${sentBytes}`);
});

test('a reader that leaves ends the request to the provider, and its place is free', async (t) => {
  const { ask, model, server, usage, stream } = await assisted(t, { policy: { streamsPerUserMax: 1 } });
  for (const hangs of [true, false]) {
    model.state.answer = hangs ? () => {} : (response) => writeForever(response, () => {});
    const leave = new AbortController();
    const before = model.received.length;
    await ask({}, leave.signal);
    while (model.received.length === before) await turn();
    leave.abort();
    await model.received.at(-1)?.closed;
    // A request that a provider has received counts, even if the client leaves before the end.
    t.is((await usage()).used, before + 1);
    model.state.answer = answering(helloTurn);
    while ((await stream()).status !== 200) await turn();
    t.is((await usage()).used, before + 2);
  }
  t.is(server.log.filter(({ level }) => Number(level) >= 50).length, 0);
});

test('a reader that reads nothing holds back the provider: neither side of the server fills up', async (t) => {
  const { phone, model, server } = await assisted(t, {
    gateway: { minimumThroughput: { bytes: 0, windowMs: 60_000 } },
  });
  let sentBytes = 0;
  model.state.answer = (response) =>
    writeForever(response, (bytes) => {
      sentBytes += bytes;
    });
  const connections = await Promise.all([1, 2, 3, 4].map(() => openRaw(t, server.port)));
  const body = '{"messages":[]}';
  const head = `POST /v1/assistant/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${phone.account.access}`;
  for (const { socket, send } of connections) {
    socket.pause();
    send(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  }
  while (model.received.length < 4) await turn();
  let before = -1;
  while (before !== sentBytes) {
    before = sentBytes;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  // The system's own buffers of four pairs of sockets, without an answer of 16 MiB.
  t.true(sentBytes < 48 * mebibyte, `${sentBytes}`);
  const held = await server.registry.getSingleMetric('scriptorium_http_unsent_reply_bytes')?.get();
  t.true((held?.values[0]?.value ?? 0) < mebibyte);
  for (const { socket } of connections) socket.destroy();
  await Promise.all(model.received.map(({ closed }) => closed));
});

test('when the process stops, streams end with a word on why', async (t) => {
  const { ask, model, server } = await assisted(t);
  model.state.answer = (response) => {
    response.writeHead(200).write('data: {"choices":[{"delta":{"content":"par"}}]}\n\n');
  };
  const answer = await ask();
  while (model.received.length === 0) await turn();
  const text = answer.text();
  const drained = server.gateway.drain();
  const stopping = failed('The server is about to restart. Please try again in a moment.');
  t.deepEqual(eventsIn(await server.answered(text)).slice(-2), stopping);
  await server.answered(drained, 20_000);
  await model.received[0]?.closed;
});

test('an answer that has begun ends with its session, be it by a ban, and those of others go on', async (t) => {
  const { ask, admin, model, server } = await assisted(t);
  model.state.answer = (response) => {
    response.writeHead(200).write('data: {"choices":[{"delta":{"content":"par"}}]}\n\n');
  };
  const begun = async (by: Device) => {
    const before = model.received.length;
    const text = (await ask({}, undefined, by)).text();
    while (model.received.length === before) await turn();
    return { text, closed: model.received[before]?.closed };
  };
  const spared = await begun(await server.device('spared@example.org'));
  // It runs until the server of the test ends.
  spared.text.catch(() => undefined);
  let isSparedOver = false;
  void spared.closed?.then(() => {
    isSparedOver = true;
  });
  const ends = {
    'a ban': ({ account }: Device) =>
      admin.call('PUT', `/v1/admin/users/${account.userUuid}/ban-status`, { body: { banned: true } }),
    'signing out': (device: Device) => device.call('POST', '/v1/logout'),
    'another device': async (device: Device) => (await device.another()).call('DELETE', '/v1/sessions'),
    'the end of the account': (device: Device) =>
      device.call('DELETE', `/v1/users/${device.account.userUuid}`, {
        headers: { 'x-server-password': device.account.password },
      }),
  };
  const ended = failed('Your session has ended. Please sign in again.');
  for (const [end, act] of Object.entries(ends)) {
    const device = await server.device(`${end.replaceAll(' ', '-')}@example.org`);
    const { text, closed } = await begun(device);
    const { status } = await server.answered(act(device));
    t.true(status < 300, `${end}: ${status}`);
    t.deepEqual(eventsIn(await server.answered(text)).slice(-2), ended, end);
    await closed;
  }
  t.false(isSparedOver);
});

test('nothing that is said, no key and no token is in a log or an error', async (t) => {
  const model = await startModelServer(t);
  const host = await startFakeCodeHost(t, 'gitea');
  const server = await startConfiguredServer(t, {
    LOG_LEVEL: 'trace',
    ASSISTANT_OPENAI_BASE_URL: `${model.url}/openai/v1`,
    ASSISTANT_OPENAI_API_KEY: modelKey,
    ASSISTANT_ANTHROPIC_BASE_URL: `${model.url}/anthropic`,
    ASSISTANT_ANTHROPIC_API_KEY: modelKey,
    ASSISTANT_OLLAMA_URL: `${model.url}/ollama`,
    ASSISTANT_PROFILES: JSON.stringify({
      profiles: vendorIds.map((id) => profileOf(id, id)),
      default: 'openai',
    }),
    CODE_HOST_API_URL: host.apiUrl,
  });
  const phone = await Device.register(server);
  const said = 'what-was-said';
  const messages = [{ role: 'user', content: said }];
  const answers: string[] = [];
  const failing = [500, 401, 400].map(
    (status) => (response: ServerResponse) => response.writeHead(status).end(said),
  );
  const hello = { ...helloTurn, text: [said] };
  for (const answer of [answering(hello), ...failing]) {
    model.state.answer = answer;
    answers.push((await streamed(openStream(server.url, phone, { messages }))).text);
  }
  t.true(answers[0]?.includes(said));
  t.is(answers.slice(1).join().includes(said), false);
  const publishing = {
    token: writer,
    owner: 'o',
    repo: 'r',
    path: `${said}.md`,
    content: said,
    message: said,
  };
  const path = '/v1/integrations/codehost/publish';
  t.is((await phone.call('POST', path, { body: publishing })).status, 200);
  for (const fields of [{ token: `${writer}-not` }, { repo: 'nowhere' }, { path: '' }]) {
    const { status, text } = await phone.call('POST', path, { body: { ...publishing, ...fields } });
    t.true(status >= 400 && status !== 401);
    t.false(text.includes(writer) || text.includes(said));
  }
  t.is(model.received.length, 4);
  t.true(server.log.length > 0);
  const log = server.log.join('\n');
  for (const secret of [said, modelKey, writer]) t.false(log.includes(secret), secret);
});
