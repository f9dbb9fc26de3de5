/** Mail through a real mail server, with the server's real sender. */
import test from 'ava';
import { Mailer, mailerId } from '../../../actors/mailer/contract.ts';
import { createMailSender } from '../../../actors/mailer/send.ts';
import { createOutboundHttp } from '../../../actors/outbound/node-http.ts';
import { alice } from '../../kit/account.ts';
import { FakeClock } from '../../kit/clock.ts';
import { bobsText, sealedMail } from '../../kit/mail.ts';
import { ModelDatabase } from '../../kit/model-store/model-store.ts';
import { type ServerOptions, startServer } from '../../kit/server.ts';
import { startSmtpServer } from '../../kit/smtp-server.ts';
import { WatchedStore } from '../../kit/watched-store.ts';

const accounts = { adminEmails: new Set([alice.email]) };

function options(clock: FakeClock, port: number): ServerOptions {
  const mail = { host: '127.0.0.1', port, from: { name: 'Notes', address: 'notes@home.test' } };
  return { accounts, mail, mailSender: createMailSender({ clock, http: createOutboundHttp({ clock }) }) };
}

test('a queued mail arrives, and what it says is in no row', async (t) => {
  const relay = await startSmtpServer(t);
  const clock = new FakeClock();
  const store = new WatchedStore(new ModelDatabase(clock));
  const server = await startServer(t, { ...options(clock, relay.port), host: { clock, store } });
  const mailer = () => server.host.actors.get(Mailer, mailerId).ask;
  t.deepEqual(await server.answered(mailer().queue(sealedMail('one'))), { queued: true });
  await server.until(() => relay.received.length === 1, 60_000);
  t.like(relay.received[0], { sender: 'notes@home.test', recipients: ['bob@secret.test'] });
  t.true(relay.received[0]?.text.includes(bobsText));
  await server.advance(5_000);
  t.deepEqual(await server.answered(mailer().recall({ id: 'one', userUuid: 'ann' })), { result: 'accepted' });
  t.true(store.written.includes('direct'));
  for (const hidden of ['bob@', 'secret.test', 'Only for Bob', bobsText]) {
    t.false(store.written.includes(hidden), hidden);
  }
});

test('mail waits while the mail server is away, and arrives when it is back', async (t) => {
  const first = await startSmtpServer(t);
  await first.stop();
  const clock = new FakeClock();
  const server = await startServer(t, { ...options(clock, first.port), host: { clock } });
  const mailer = () => server.host.actors.get(Mailer, mailerId).ask;
  for (const id of ['one', 'two']) await server.answered(mailer().queue(sealedMail(id)));
  await server.advance(10_000);
  const second = await startSmtpServer(t, { port: first.port });
  await server.until(() => second.received.length === 2, 600_000);
  await server.advance(600_000);
  t.is(second.received.length, 2);
});

test("an administrator is told nothing of a relay's own words", async (t) => {
  const relay = await startSmtpServer(t);
  const clock = new FakeClock();
  const server = await startServer(t, { ...options(clock, relay.port), host: { clock } });
  const admin = await server.device();
  for (const [recipient, outcome] of [
    ['ann@example.test', 'sent'],
    ['reject@example.test', 'rejected'],
    ['data-tempfail@example.test', 'transient-failure'],
    ['data-cut@example.test', 'transient-failure'],
  ] as const) {
    const pending = admin.call('POST', '/v1/admin/email-delivery/test', { body: { recipient } });
    const { status, body, text } = await server.answered(pending, 60_000);
    t.is(status, 200);
    t.deepEqual(body, {
      accepted: outcome === 'sent',
      outcome,
      relay: { id: 'direct', kind: 'smtp' },
    });
    t.notRegex(text, /nobody here|not now|example/);
  }
});
