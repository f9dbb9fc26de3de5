import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createAuthority } from '../../test/kit/certificates.ts';
import { FakeClock } from '../../test/kit/clock.ts';
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from '../../test/kit/smtp-server.ts';
import { until } from '../../test/kit/until.ts';
import type { SmtpRelay } from './relays.ts';
import type { Attachment } from './sender.ts';
import { createSmtp } from './smtp.ts';

/** Every name is this machine, so that a test of TLS has a host that is not on loopback by its name. */
const lookup: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};
const authority = createAuthority();
test.after.always(() => authority.remove());

const message = {
  from: { name: 'Notes', address: 'notes@home.test' },
  subject: 'Grüße',
  text: 'Hello\n.\nBye ☺\n',
  messageId: '<one@home.test>',
  dateMs: Date.UTC(2026, 0, 1),
};

interface SendOptions extends SmtpServerOptions {
  readonly relay?: Partial<SmtpRelay>;
  readonly credential?: string;
  readonly recipient?: string;
  readonly sender?: string;
  readonly handOver?: () => Promise<void>;
  /** For how long nothing may be answered before the test moves the clock beyond the attempt's time. */
  readonly isSlow?: boolean | 'once the message is there';
  /** What several are sent by, one after another. */
  readonly by?: Sender;
  readonly signal?: AbortSignal;
  readonly attachment?: Attachment;
}

interface Sender {
  readonly clock: FakeClock;
  readonly send: ReturnType<typeof createSmtp>;
}

function sender(): Sender {
  const clock = new FakeClock();
  return { clock, send: createSmtp({ clock, lookup, ca: readFileSync(authority.ca, 'utf8') }) };
}

async function sent(t: ExecutionContext, server: SmtpServer, input: SendOptions = {}) {
  const { relay, credential, recipient = 'ann@example.test', handOver = async () => {}, isSlow } = input;
  const { clock, send } = input.by ?? sender();
  const result = send({
    relay: {
      id: 'one',
      name: '',
      kind: 'smtp',
      enabled: true,
      from: message.from,
      host: '127.0.0.1',
      port: server.port,
      security: 'none',
      username: null,
      plaintextCredentials: false,
      rateLimit: { perMinute: null, perDay: null },
      ...relay,
    },
    credential,
    message: {
      ...message,
      from: { ...message.from, address: input.sender ?? message.from.address },
      recipient,
      attachment: input.attachment,
    },
    handOver,
    timeoutMs: 5_000,
    signal: input.signal ?? new AbortController().signal,
  });
  if (isSlow === 'once the message is there') await server.messages(1);
  if (isSlow) {
    const waited = setInterval(() => void clock.advance(1_000), 50);
    t.teardown(() => clearInterval(waited));
  }
  return result;
}

test('a message arrives as it was meant, for one recipient', async (t) => {
  const server = await startSmtpServer(t);
  t.deepEqual(await sent(t, server), { result: 'sent' });
  const [received] = await server.messages(1);
  t.like(received, { sender: 'notes@home.test', recipients: ['ann@example.test'], tls: false, user: null });
  const [head = '', body = ''] = (received?.text ?? '').split('\r\n\r\n');
  const headers = head.split('\r\n');
  for (const header of [
    'From: Notes <notes@home.test>',
    'To: ann@example.test',
    'Message-ID: <one@home.test>',
    'Auto-Submitted: auto-generated',
    'Date: Thu, 01 Jan 2026 00:00:00 +0000',
    'Content-Type: text/plain; charset=utf-8',
  ]) {
    t.true(headers.includes(header), header);
  }
  t.regex(head, /^Subject: =\?UTF-8\?/m);
  t.regex(body, /^Hello\r\n\.\r\nBye =E2=98=BA|^SGVsbG8K/);
  t.notRegex(head, /nodemailer/i);
});

for (const [recipient, result] of [
  ['tempfail@example.test', { result: 'transient', failure: 'provider' }],
  ['reject@example.test', { result: 'rejected', failure: 'rejected' }],
  ['data-tempfail@example.test', { result: 'transient', failure: 'provider' }],
  ['data-reject@example.test', { result: 'rejected', failure: 'rejected' }],
  ['data-cut@example.test', { result: 'uncertain', failure: 'timeout' }],
] as const) {
  for (const pipelining of [false, true]) {
    test(`a relay's answer to ${recipient} is ${result.result}${pipelining ? ', also of an envelope at once' : ''}`, async (t) => {
      const server = await startSmtpServer(t, { pipelining });
      t.deepEqual(await sent(t, server, { recipient }), result);
    });
  }
}

for (const pipelining of [false, true]) {
  test(`a relay that is about to close takes nothing for now${pipelining ? ', also of an envelope at once' : ''}`, async (t) => {
    const server = await startSmtpServer(t, { pipelining });
    const handOver = () => Promise.reject(new Error('nothing may be handed over'));
    const answered = await sent(t, server, { sender: 'closing@home.test', handOver });
    t.deepEqual(answered, { result: 'unable', failure: 'rate-limited' });
  });
}

/** A file of several pieces, whose ends fit no line of base64. */
const fileOf = (piecesBytes: number): Attachment => ({
  filename: 'backup.txt',
  pieces: ['{"a":"ö', '.'.repeat(piecesBytes), '"}\n'].map((piece) => Buffer.from(piece)),
});

test('a file arrives beside the text, byte for byte', async (t) => {
  const server = await startSmtpServer(t);
  const attachment = fileOf(200_000);
  t.deepEqual(await sent(t, server, { attachment }), { result: 'sent' });
  const [received] = await server.messages(1);
  const [, text = '', file = ''] = received?.text.split(/^--.*-Part.*\r\n/m) ?? [];
  t.regex(text, /^Hello\r$/m);
  t.regex(file, /^Content-Type: application\/json; name=backup.txt\r$/m);
  t.regex(file, /^Content-Disposition: attachment; filename=backup.txt\r$/m);
  const [, encoded = ''] = file.split('\r\n\r\n');
  t.deepEqual(Buffer.from(encoded, 'base64'), Buffer.concat(attachment.pieces));
});

test('a file that a relay says is too large for it is not sent, and the relay goes on', async (t) => {
  const server = await startSmtpServer(t, { sizeMax: 100_000 });
  const by = sender();
  const handOver = () => Promise.reject(new Error('nothing may be handed over'));
  const refused = await sent(t, server, { by, attachment: fileOf(80_000), handOver });
  t.deepEqual(refused, { result: 'rejected', failure: 'rejected' });
  t.deepEqual(await sent(t, server, { by, attachment: fileOf(60_000) }), { result: 'sent' });
  t.is((await server.messages(1)).length, 1);
});

test('a relay that has the message and does not answer leaves it uncertain', async (t) => {
  const server = await startSmtpServer(t);
  const result = await sent(t, server, {
    recipient: 'data-hang@example.test',
    isSlow: 'once the message is there',
  });
  t.deepEqual(result, { result: 'uncertain', failure: 'timeout' });
  t.is((await server.messages(1)).length, 1);
});

test('a relay that says nothing, and one that is not there, are unable to send', async (t) => {
  const silent = await startSmtpServer(t, { hang: true });
  t.deepEqual(await sent(t, silent, { isSlow: true }), { result: 'unable', failure: 'timeout' });
  await silent.stop();
  t.deepEqual(await sent(t, silent), { result: 'unable', failure: 'connection' });
});

test('nothing of a message leaves before it is handed over', async (t) => {
  const server = await startSmtpServer(t);
  const error = new Error('the commit was not applied');
  await t.throwsAsync(sent(t, server, { handOver: () => Promise.reject(error) }), { is: error });
  t.deepEqual(server.received, []);
  let began = () => {};
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const sending = sent(t, server, {
    handOver: () => {
      began();
      return gate;
    },
  });
  await begun;
  t.deepEqual(server.received, []);
  open();
  t.deepEqual(await sending, { result: 'sent' });
  t.is((await server.messages(1)).length, 1);
});

test('a relay off loopback gets user and password over TLS that was verified', async (t) => {
  const account = { user: 'server', password: 'secret words' };
  const relay = { host: 'mail.test', username: account.user } as const;
  const certificate = authority.issue('mail.test');
  for (const [security, implicit] of [
    ['starttls', false],
    ['implicit', true],
  ] as const) {
    const server = await startSmtpServer(t, { ...account, certificate, implicit });
    const answered = await sent(t, server, { relay: { ...relay, security }, credential: account.password });
    t.deepEqual(answered, { result: 'sent' });
    t.like((await server.messages(1))[0], { tls: true, user: 'server' });
    const wrong = await sent(t, server, { relay: { ...relay, security }, credential: 'wrong' });
    t.deepEqual(wrong, { result: 'unable', failure: 'authentication' });
  }
});

test('nothing is said to a relay off loopback without TLS, or with the certificate of another', async (t) => {
  const plain = await startSmtpServer(t);
  const other = await startSmtpServer(t, { certificate: authority.issue('other.test') });
  for (const [server, failure] of [
    [plain, 'provider'],
    [other, 'connection'],
  ] as const) {
    const relay = { host: 'mail.test', security: 'starttls' } as const;
    const handOver = () => Promise.reject(new Error('nothing may be handed over'));
    t.deepEqual(await sent(t, server, { relay, handOver }), { result: 'unable', failure });
  }
});

const plainRelay = { host: 'mail.test', security: 'none' } as const;

test('a relay off loopback without TLS gets mail in plain text if its security is none', async (t) => {
  const server = await startSmtpServer(t);
  t.deepEqual(await sent(t, server, { relay: plainRelay }), { result: 'sent' });
  t.like((await server.messages(1))[0], { tls: false, user: null });
});

test('a password goes to a relay off loopback in plain text only where that is allowed as well', async (t) => {
  const account = { user: 'server', password: 'secret words' };
  const server = await startSmtpServer(t, account);
  const relay = { ...plainRelay, username: account.user };
  const refused = await sent(t, server, { relay, credential: account.password });
  t.deepEqual(refused, { result: 'unable', failure: 'connection' });
  t.deepEqual(server.received, []);
  const allowed = { ...relay, plaintextCredentials: true };
  t.deepEqual(await sent(t, server, { relay: allowed, credential: account.password }), { result: 'sent' });
  t.like((await server.messages(1))[0], { tls: false, user: 'server' });
});

const connectionsOf = (server: SmtpServer) => server.received.map(({ connection }) => connection);

test('mails that come one after another go over one connection, which is not kept for long', async (t) => {
  const server = await startSmtpServer(t);
  const by = sender();
  for (let count = 0; count < 3; count += 1) t.deepEqual(await sent(t, server, { by }), { result: 'sent' });
  await server.messages(3);
  t.is(new Set(connectionsOf(server)).size, 1);
  await by.clock.advance(2_000);
  t.deepEqual(await sent(t, server, { by }), { result: 'sent' });
  await server.messages(4);
  t.is(new Set(connectionsOf(server)).size, 2);
});

test('a connection carries a hundred mails and no more', async (t) => {
  const server = await startSmtpServer(t);
  const by = sender();
  for (let count = 0; count < 101; count += 1) t.deepEqual(await sent(t, server, { by }), { result: 'sent' });
  await server.messages(101);
  const [first, ...others] = connectionsOf(server);
  t.is(others.filter((connection) => connection === first).length, 99);
  t.not(others.at(-1), first);
});

test('a connection that the relay ends before the next mail is no fault of the relay', async (t) => {
  const server = await startSmtpServer(t);
  const by = sender();
  t.deepEqual(await sent(t, server, { by, recipient: 'last@example.test' }), { result: 'sent' });
  t.deepEqual(await sent(t, server, { by }), { result: 'sent' });
  await server.messages(2);
  t.is(new Set(connectionsOf(server)).size, 2);
});

test('a mail that was handed over on a kept connection is not sent over another', async (t) => {
  const server = await startSmtpServer(t);
  const by = sender();
  let handedOver = 0;
  const handOver = async () => {
    handedOver += 1;
  };
  t.deepEqual(await sent(t, server, { by }), { result: 'sent' });
  const uncertain = { result: 'uncertain', failure: 'timeout' } as const;
  t.deepEqual(await sent(t, server, { by, handOver, recipient: 'data-cut@example.test' }), uncertain);
  t.is(handedOver, 1);
  t.is((await server.messages(2)).length, 2);
});

test('a connection that is signed in to is not reused with another password', async (t) => {
  const account = { user: 'server', password: 'secret words' };
  const server = await startSmtpServer(t, { ...account, certificate: authority.issue('mail.test') });
  const relay = { host: 'mail.test', username: account.user, security: 'starttls' } as const;
  const by = sender();
  t.deepEqual(await sent(t, server, { by, relay, credential: account.password }), { result: 'sent' });
  const wrong = await sent(t, server, { by, relay, credential: 'wrong' });
  t.deepEqual(wrong, { result: 'unable', failure: 'authentication' });
  t.deepEqual(await sent(t, server, { by, relay, credential: account.password }), { result: 'sent' });
  t.is(new Set(connectionsOf(server)).size, 1);
});

test('the end of the run that opened a connection cuts no mail of another', async (t) => {
  const server = await startSmtpServer(t);
  const by = sender();
  const run = new AbortController();
  t.deepEqual(await sent(t, server, { by, signal: run.signal }), { result: 'sent' });
  const handOver = async () => run.abort();
  t.deepEqual(await sent(t, server, { by, handOver }), { result: 'sent' });
  await server.messages(2);
  t.is(new Set(connectionsOf(server)).size, 1);
});

test('a run that has ended sends nothing', async (t) => {
  const server = await startSmtpServer(t);
  const handOver = () => Promise.reject(new Error('nothing may be handed over'));
  const answered = await sent(t, server, { signal: AbortSignal.abort(), handOver });
  t.deepEqual(answered, { result: 'unable', failure: 'connection' });
});

const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

test.serial('a kept connection that a run had taken when it ended is closed', async (t) => {
  const server = await startSmtpServer(t);
  const by = sender();
  const before = openSockets();
  t.deepEqual(await sent(t, server, { by }), { result: 'sent' });
  t.like(await sent(t, server, { by, signal: AbortSignal.abort() }), { result: 'unable' });
  await until(() => openSockets() === before);
  t.is(openSockets(), before);
});
