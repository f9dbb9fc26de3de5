/** Mail through Debian's Postfix, over verified TLS, with the server's real sender. */
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { Mailer, mailerId, type SealedMail } from '../../../actors/mailer/contract.ts';
import { createMailSender } from '../../../actors/mailer/send.ts';
import { createOutboundHttp } from '../../../actors/outbound/node-http.ts';
import { alice } from '../../kit/account.ts';
import { createAuthority } from '../../kit/certificates.ts';
import { FakeClock } from '../../kit/clock.ts';
import { sealedMail } from '../../kit/mail.ts';
import { type PostfixOptions, startPostfix } from '../../kit/postfix.ts';
import { startServer } from '../../kit/server.ts';
import { until } from '../../kit/until.ts';

const minuteMs = 60_000;
const account = { user: 'notes', password: 'two words ☺' };
const bob = 'bob@secret.test';
const authority = createAuthority();
test.after.always(() => authority.remove());

/** The relay's name is not of this machine, so TLS is required and its certificate verified. */
const lookup: LookupFunction = (_host, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};

interface StartOptions extends Partial<PostfixOptions> {
  /** The server's credentials. */
  readonly password?: string;
}

async function start(t: ExecutionContext, { password = account.password, ...rest }: StartOptions = {}) {
  t.timeout(2 * minuteMs);
  const certificate = authority.issue('mail.test');
  const relay = await startPostfix(t, { certificate, account, mailboxes: [bob], ...rest });
  const clock = new FakeClock();
  const ca = readFileSync(authority.ca, 'utf8');
  const server = await startServer(t, {
    accounts: { adminEmails: new Set([alice.email]) },
    mail: {
      host: 'mail.test',
      port: relay.port,
      user: account.user,
      password,
      from: { name: 'Our notes', address: 'notes@home.test' },
    },
    mailSender: createMailSender({ clock, lookup, ca, http: createOutboundHttp({ clock }) }),
    host: { clock },
  });
  const admin = await server.device();
  const queue = (mail: SealedMail) =>
    server.answered(server.host.actors.get(Mailer, mailerId).ask.queue(mail));
  const records = async (state: 'ready' | 'leased' | 'dead') =>
    (await server.answered(admin.call('GET', `/v1/admin/email-delivery/queue?state=${state}`))).body.records;
  const outcomes = async () => {
    const logs = await server.answered(admin.call('GET', '/v1/admin/email-delivery/logs'));
    const outcomeOf = ({ outcome, failure }: { outcome: string; failure: string | null }) =>
      failure === null ? outcome : `${outcome} ${failure}`;
    return logs.body.entries.map(outcomeOf).toReversed();
  };
  /** The clock goes slowly meanwhile: Postfix takes its time, and an attempt has a time limit. */
  const attempts = (count: number) =>
    until(async () => {
      await server.advance(10);
      return (await outcomes()).length >= count;
    });
  const delivered = (count: number) => until(async () => (await relay.mailbox(bob)).length >= count);
  return { server, relay, queue, records, outcomes, attempts, delivered };
}

interface Delivered {
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

/** By RFC 5322, a header may continue over several lines. */
function parsed(message: string): Delivered {
  const [head = '', ...rest] = message.split('\n\n');
  const headers = new Map<string, string[]>();
  for (const header of head.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const name = header.slice(0, header.indexOf(':')).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), header.slice(name.length + 2)]);
  }
  return { headers, body: rest.join('\n\n') };
}

test('a mail is delivered once, over TLS that was verified, with its envelope and headers', async (t) => {
  const { server, relay, queue, records, outcomes, attempts, delivered } = await start(t);
  const text = 'Hello\n.\n..\nFrom here on: ☺\n';
  t.deepEqual(await queue(sealedMail('one', 'other', { subject: 'Grüße, Bob', text })), { queued: true });
  await attempts(1);
  await delivered(1);
  await server.advance(60 * minuteMs);
  t.deepEqual(await outcomes(), ['sent']);
  for (const state of ['ready', 'leased', 'dead'] as const) t.deepEqual(await records(state), []);
  const messages = await relay.mailbox(bob);
  t.is(messages.length, 1);
  const { headers, body } = parsed(messages[0] ?? '');
  for (const [name, value] of [
    ['return-path', '<notes@home.test>'],
    ['x-original-to', bob],
    ['delivered-to', bob],
    ['from', 'Our notes <notes@home.test>'],
    ['to', bob],
    ['subject', `=?UTF-8?Q?Gr=C3=BC=C3=9Fe=2C_Bob?=`],
    ['auto-submitted', 'auto-generated'],
    ['mime-version', '1.0'],
    ['content-type', 'text/plain; charset=utf-8'],
  ] as const)
    t.deepEqual(headers.get(name), [value], name);
  t.regex(headers.get('message-id')?.join() ?? '', /^<[0-9a-f-]{36}@home\.test>$/);
  t.is(headers.get('date')?.length, 1);
  for (const none of ['cc', 'bcc', 'reply-to', 'x-mailer']) t.false(headers.has(none), none);
  const [received = ''] = headers.get('received') ?? [];
  t.regex(received, /using TLSv1\.[23].*Authenticated sender: notes.*with ESMTPSA/);
  t.is(headers.get('content-transfer-encoding')?.join(), 'quoted-printable');
  t.is(body.replace(/=E2=98=BA/, '☺'), text);
});

test('a recipient that is not known there makes the mail dead, and it is never tried again', async (t) => {
  const { server, relay, queue, records, outcomes, attempts } = await start(t);
  await queue(sealedMail('one', 'other', { recipient: 'nobody@secret.test' }));
  await attempts(1);
  await server.advance(24 * 60 * minuteMs);
  t.like(await records('dead'), [{ id: 'one', attempts: 1, lastFailure: 'rejected' }]);
  t.deepEqual(await outcomes(), ['rejected rejected']);
  const refusals = (await relay.log()).match(/reject: RCPT .* 550 5\.1\.1 /g);
  t.is(refusals?.length, 1);
});

test('a mail that a greylist defers is tried again, and delivered once', async (t) => {
  const requests: string[] = [];
  const policy = (recipient: string) => {
    requests.push(recipient);
    return requests.length <= 2 ? 'DEFER_IF_PERMIT Greylisted, come again later' : 'DUNNO';
  };
  const { server, relay, queue, records, outcomes, attempts, delivered } = await start(t, { policy });
  await queue(sealedMail('one'));
  await attempts(1);
  t.like(await records('ready'), [{ id: 'one', attempts: 1, lastFailure: 'provider' }]);
  await server.advance(minuteMs);
  await attempts(2);
  t.like(await records('ready'), [{ id: 'one', attempts: 2 }]);
  await server.advance(5 * minuteMs);
  await attempts(3);
  await delivered(1);
  await server.advance(60 * minuteMs);
  t.deepEqual(await outcomes(), ['transient-failure provider', 'transient-failure provider', 'sent']);
  t.deepEqual(requests, [bob, bob, bob]);
  t.is((await relay.mailbox(bob)).length, 1);
});

test('a mail that is too large for the relay is refused before anything of it has left', async (t) => {
  const { relay, queue, records, attempts } = await start(t, { messageBytesMax: 20_000 });
  await queue(sealedMail('one', 'other', { text: 'A long story. '.repeat(2_000) }));
  await attempts(1);
  t.like(await records('dead'), [{ id: 'one', attempts: 1, lastFailure: 'rejected' }]);
  t.notRegex(await relay.log(), /client=/);
});

test('without the right password, or with the certificate of another, a mail waits and nothing is held against it', async (t) => {
  for (const [input, outcome] of [
    [{ password: 'wrong' }, 'permanent-failure authentication'],
    [{ certificate: authority.issue('other.test') }, 'transient-failure connection'],
  ] as const) {
    const { relay, queue, records, outcomes, attempts } = await start(t, input);
    await queue(sealedMail('one'));
    await attempts(1);
    t.is((await outcomes())[0], outcome);
    t.like(await records('ready'), [{ id: 'one', attempts: 0 }]);
    t.notRegex(await relay.log(), /client=/);
  }
});
