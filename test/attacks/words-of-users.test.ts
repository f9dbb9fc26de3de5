/**
 * No log, metric or answer to an administrator contains what users write, their recipients, or the credentials for
 * sending. That holds even when everything fails, and relay and providers repeat what they received.
 */
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { Registry } from 'prom-client';
import { noAssistant } from '../../actors/assistant/policy.ts';
import { countedMailSender, createMailSender } from '../../actors/mailer/send.ts';
import { createMessengers } from '../../actors/messengers/http-messengers.ts';
import { createOutboundHttp } from '../../actors/outbound/node-http.ts';
import { UserAdministration } from '../../actors/user/operator-contract.ts';
import { countAnswers } from '../../gateway/assistant/assistant.ts';
import { systemClock } from '../../runtime/clock.ts';
import { prometheusRuntimeMetrics } from '../../runtime/host/metrics.ts';
import { alice } from '../kit/account.ts';
import { openStream, profileOf, streamed } from '../kit/assisted.ts';
import { makeToken, publish, publisher, showing, tokensPath, unpublish } from '../kit/calendar.ts';
import { startFakeCodeHost, writer } from '../kit/fake-code-host.ts';
import { memoryLogger } from '../kit/memory-logger.ts';
import { startMessengerServer } from '../kit/messenger-server.ts';
import { answering, helloTurn, modelKey, startModelServer } from '../kit/model-server.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

const secrets = {
  payload: 'ciphertext-of-a-share',
  nickname: 'nickname-of-a-share',
  switchRecipient: 'heir@recipients.test',
  switchText: 'words-to-an-heir',
  shareUrl: 'https://notes.test/?shared=5f1c#key-in-a-link',
  mailReminder: 'words-in-a-mail-reminder',
  published: 'words-in-a-published-reminder',
  publishedTo: 'friend@recipients.test',
  chat: '471108154711',
  telegramBotToken: `4711:${'t'.repeat(35)}`,
  whatsappToken: 'token-of-the-graph',
  whatsappPhoneId: '909090909',
  relayPassword: 'password-of-a-relay',
  apiKey: 'key-of-a-hosted-relay',
  tested: 'tested@recipients.test',
} as const;

/** Refuses at this command, and repeats its input, including its base64 input. */
async function startRefusingRelay(t: ExecutionContext) {
  const received: string[] = [];
  const state = { refuses: 'RCPT', code: 550 };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 relay.test\r\n');
    socket.on('data', (data) => {
      const line = data.toString().trim();
      received.push(line);
      const echo = `${line.replaceAll(/[\r\n]+/g, ' ')} ${Buffer.from(line.split(' ').at(-1) ?? '', 'base64')}`;
      if (line.startsWith(state.refuses))
        socket.write(`${state.code} ${echo.replaceAll(/[^ -~]/g, ' ')}\r\n`);
      else if (line.startsWith('EHLO')) socket.write('250-relay.test\r\n250 AUTH PLAIN\r\n');
      else if (line.startsWith('AUTH')) socket.write('235 yes\r\n');
      else socket.write('250 yes\r\n');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  return {
    port,
    received,
    refuse(command: string, code: number) {
      Object.assign(state, { refuses: command, code });
    },
  };
}

async function started(t: ExecutionContext) {
  const relay = await startRefusingRelay(t);
  const providers = await startMessengerServer(t);
  const { lines, logger } = memoryLogger();
  const registry = new Registry();
  const http = providers.outbound(createOutboundHttp({ clock: systemClock }));
  const server: TestServer = await startServer(t, {
    accounts: { adminEmails: new Set([alice.email]), reminderDelivery: true, emailReminders: true },
    mailSender: countedMailSender(createMailSender({ clock: systemClock, http }), registry),
    messengers: createMessengers({ http, clock: systemClock, credentials: secrets }),
    host: { logger, metrics: prometheusRuntimeMetrics(registry, () => server.host.host) },
  });
  const phone = await server.device();
  const answers: string[] = [];
  const call = async (method: string, path: string, body?: object) => {
    const answer = await server.answered(
      phone.call(method, path, body === undefined ? {} : { body }),
      60_000,
    );
    t.true(answer.status < 500, `${method} ${path} ${answer.text}`);
    return answer;
  };
  const administer = async (method: string, path: string, body?: object) => {
    const answer = await call(method, `/v1/admin/email-delivery${path}`, body);
    answers.push(answer.text);
    return answer;
  };
  return { server, relay, providers, registry, lines, answers, phone, call, administer };
}

test('texts, recipients and credentials of users are in no log, metric or answer to an administrator', async (t) => {
  const { server, relay, providers, registry, lines, answers, phone, call, administer } = await started(t);
  const found = new Map<string, string>(Object.entries(secrets));
  const search = async () => {
    const places = {
      log: [...lines, ...server.log.map((line) => JSON.stringify(line))].join('\n'),
      metrics: `${await registry.metrics()}\n${await server.registry.metrics()}`,
      answers: answers.join('\n'),
    };
    for (const [place, text] of Object.entries(places)) {
      t.true(text.length > 0, place);
      for (const [name, secret] of found) t.false(text.includes(secret), `${name} is in the ${place}`);
    }
  };
  const passes = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += minuteMs) {
      await server.advance(minuteMs);
      // Data on its way through real sockets arrives meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  const smtp = {
    id: 'own',
    kind: 'smtp',
    from: 'Notes <notes@home.test>',
    host: '127.0.0.1',
    port: relay.port,
    security: 'none',
    username: 'server',
    credentials: { password: secrets.relayPassword },
  };
  const hosted = {
    id: 'hosted',
    kind: 'postmark',
    from: 'notes@home.test',
    credentials: { apiKey: secrets.apiKey },
  };
  const relays = { relays: [smtp, hosted], fallbackPolicy: { mode: 'next-enabled' } };
  t.is((await administer('PUT', '/relays', relays)).status, 200);

  // Shares: invalid, opened, used up, revoked, and requested afterwards.
  const share = { type: 'note', encryptedPayload: secrets.payload, nickname: secrets.nickname };
  t.is((await call('POST', '/v1/shares', { ...share, type: secrets.payload })).status, 400);
  for (const oneTimeView of [true, false]) {
    const { shareId } = (await call('POST', '/v1/shares', { ...share, oneTimeView })).body;
    found.set(`share, ${oneTimeView ? 'once' : 'often'}`, shareId);
    const path = `/v1/shares/${shareId}`;
    t.is((await server.call('GET', path)).status, 200);
    t.is((await server.call('HEAD', path)).status, 405);
    t.is((await call('DELETE', path)).status, 200);
    t.is((await server.call('GET', path)).status, 404);
  }

  // On its first day an account may send few mails to others.
  await server.advance(24 * 60 * minuteMs);
  // Mails and messages that nobody accepts.
  const want = async (name: string) => {
    const path = `/v1/users/${phone.account.userUuid}/settings`;
    t.is((await call('PUT', path, { name, value: 'true' })).status, 200);
  };
  await want('REMINDER_DELIVERY_ENABLED');
  await want('EMAIL_REMINDERS_ENABLED');
  const isoIn = (ms: number) => new Date(server.clock.nowMs() + ms).toISOString();
  const failures = [
    { command: 'RCPT', code: 550, provider: 'unauthorized', channel: 'telegram', destination: secrets.chat },
    {
      command: 'AUTH',
      code: 535,
      provider: 'internal error',
      channel: 'whatsapp',
      destination: secrets.chat,
    },
    { command: 'MAIL', code: 451, provider: 'cut', channel: 'telegram', destination: secrets.chat },
    {
      command: 'DATA',
      code: 554,
      provider: 'unauthorized',
      channel: 'email',
      destination: secrets.publishedTo,
    },
  ] as const;
  for (const [round, { command, code, provider, ...config }] of failures.entries()) {
    relay.refuse(command, code);
    providers.behave(provider);
    const configured = await call('PUT', '/v1/reminder-delivery/delivery-config', {
      ...config,
      enabled: true,
    });
    t.is(configured.status, 200);
    const published = { id: `p-${round}`, message: secrets.published, dueAtUtc: isoIn(minuteMs) };
    t.is((await call('POST', '/v1/reminder-delivery', published)).status, 201);
    t.is(
      (await call('POST', '/v1/email-reminders', { dueAt: isoIn(minuteMs), message: secrets.mailReminder }))
        .status,
      200,
    );
    const heir = {
      recipientEmail: secrets.switchRecipient,
      message: secrets.switchText,
      shareUrl: secrets.shareUrl,
    };
    t.is(
      (await call('POST', '/v1/dead-man-switches', { ...heir, deadline: server.clock.nowMs() + dayMs / 12 }))
        .status,
      200,
    );
    t.is((await administer('POST', '/test', { recipient: secrets.tested })).status, 200);
    await passes(dayMs / 12 + 10 * minuteMs);
    for (const path of ['/relays', '/queue?state=ready', '/queue?state=dead', '/logs']) {
      t.is((await administer('GET', path)).status, 200, path);
    }
    await search();
  }

  // All of it was on its way, and failed.
  const sent = relay.received.join('\n');
  for (const name of ['switchRecipient', 'publishedTo', 'tested'] as const)
    t.true(sent.includes(secrets[name]), name);
  t.true(sent.includes(Buffer.from(`\0server\0${secrets.relayPassword}`).toString('base64')));
  t.true(
    providers.received.some(
      ({ path, body }) => path.includes(secrets.telegramBotToken) && body.includes(secrets.published),
    ),
  );
  t.true(providers.received.some(({ headers }) => headers.authorization?.includes(secrets.whatsappToken)));
  t.true(providers.received.some(({ headers }) => headers['x-postmark-server-token'] === secrets.apiKey));
  t.regex(
    await registry.metrics(),
    /mail_attempts_total\{relay="smtp",outcome="(transient|rejected|permanent|unable)/,
  );
});

const handed = {
  prompt: 'words-to-the-assistant',
  answer: 'words-of-the-assistant',
  tool: 'name-of-a-tool',
  modelKey,
  summary: 'summary-of-a-to-do',
  description: 'description-of-a-to-do',
  uid: 'uid-of-a-to-do',
  label: 'label-of-a-calendar-token',
  codeHostToken: writer,
  owner: 'owner-of-a-repository',
  repo: 'name-of-a-repository',
  file: 'path-of-a-note',
  content: 'content-of-a-note',
  message: 'message-of-a-commit',
} as const;

test('prompts, and texts published to a calendar or a code host, are in no log, metric or answer to administrators', async (t) => {
  const model = await startModelServer(t);
  const host = await startFakeCodeHost(t, 'gitea');
  const { lines, logger } = memoryLogger();
  const registry = new Registry();
  const server: TestServer = await startServer(t, {
    accounts: { adminEmails: new Set(['admin@example.org']), calendar: true },
    assistant: { ...noAssistant, default: profileOf('openai') },
    providers: { providers: model.providers, ended: countAnswers(registry) },
    codeHost: { apiUrl: host.apiUrl },
    host: { logger, metrics: prometheusRuntimeMetrics(registry, () => server.host.host) },
  });
  const phone = await publisher(server);
  const admin = await server.device('admin@example.org');
  const secrets = new Map<string, string>(Object.entries(handed));

  // The assistant: an answer, and the provider's messages about its failures.
  const says = { ...helloTurn, text: [handed.answer] };
  const failing = [400, 401, 500].map(
    (status) => (response: ServerResponse) => response.writeHead(status).end(`${handed.answer} ${modelKey}`),
  );
  for (const answer of [answering(says), ...failing]) {
    model.state.answer = answer;
    const tools = [{ name: handed.tool, description: handed.prompt }];
    const stream = openStream(server.url, phone, {
      messages: [{ role: 'user', content: handed.prompt }],
      tools,
    });
    t.is((await streamed(stream)).status, 200);
  }
  const [heard] = model.received;
  t.true(
    JSON.stringify(heard?.body).includes(handed.prompt) && heard?.headers.authorization?.includes(modelKey),
  );

  // A calendar: published, refused, read by a program with a right token and a wrong one, and revoked.
  const { summary, description, uid } = handed;
  t.is((await publish(phone, { uid, summary, description })).status, 201);
  t.is((await publish(phone, { uid, summary: `${summary}\uffff` })).status, 400);
  const { uuid, token } = await makeToken(phone, handed.label);
  secrets.set('calendar token', token).set('secret of it', token.slice(token.indexOf('.') + 1));
  const wrong = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
  const object = `/dav/calendars/${phone.account.userUuid}/todos/${uid}.ics`;
  const read = async (token: string) => (await server.call('GET', object, showing(token))).status;
  t.deepEqual([await read(token), await read(wrong)], [200, 401]);
  t.is((await phone.call('DELETE', `${tokensPath}/${uuid}`)).status, 200);
  t.is(await read(token), 401);
  t.is((await unpublish(phone, uid)).status, 200);

  // A code host: it accepts a note, and refuses others in its own words.
  const { owner, repo, content, message } = handed;
  const note = { token: writer, owner, repo, path: `${handed.file}.md`, content, message };
  for (const fields of [{}, { token: `${writer}-not` }, { content: '' }, { path: `../${handed.file}` }]) {
    const { status } = await phone.call('POST', '/v1/integrations/codehost/publish', {
      body: { ...note, ...fields },
    });
    t.true(status < 500, `${status}`);
  }
  t.true(host.requests.some(({ headers, url }) => JSON.stringify([headers, url]).includes(writer)));

  // Administrators, in a client and through the internal API.
  const { userUuid } = phone.account;
  const answers: string[] = [];
  for (const path of [
    `lookup-user/${alice.email}`,
    `users/${userUuid}/feature-flags`,
    `users/${alice.email}/ban-status`,
    'registration',
  ]) {
    const { status, text } = await admin.call('GET', `/v1/admin/${path}`);
    t.is(status, 200, path);
    answers.push(text);
  }
  const { ask } = server.host.actors.get(UserAdministration, userUuid);
  answers.push(JSON.stringify(await ask.operatorShow({})), JSON.stringify(await ask.operatorFlags({})));
  const trail = await ask.operatorAuditTrail({ before: Number.MAX_SAFE_INTEGER, limit: 1_000 });
  t.true(trail.events.some(({ event }) => event === 'calendar-token-revoked'));
  answers.push(JSON.stringify(trail));
  const places = {
    log: [...lines, ...server.log.map((line) => JSON.stringify(line))].join('\n'),
    metrics: `${await registry.metrics()}\n${await server.registry.metrics()}`,
    answers: answers.join('\n'),
  };
  for (const [place, text] of Object.entries(places)) {
    t.true(text.length > 0, place);
    for (const [name, secret] of secrets) t.false(text.includes(secret), `${name} is in the ${place}`);
  }
});
