/** Relays whose names try to break the counters about them. */
import test from 'ava';
import { Mailer, mailerId } from '../../actors/mailer/contract.ts';
import { alice } from '../kit/account.ts';
import { sealedMail } from '../kit/mail.ts';
import { Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';

test('a relay with the name of what every object has sends like any other, and within its rate', async (t) => {
  const postbox = new Postbox();
  const accounts = { adminEmails: new Set([alice.email]) };
  const server = await startServer(t, { accounts, mailSender: postbox });
  const admin = await server.device();
  const relay = {
    id: 'constructor',
    kind: 'postmark',
    from: 'notes@home.test',
    credentials: { apiKey: 'a-key' },
    rateLimit: { perMinute: 1 },
  };
  const body = { relays: [relay], fallbackPolicy: { mode: 'next-enabled' } };
  t.is((await admin.call('PUT', '/v1/admin/email-delivery/relays', { body })).status, 200);
  const { ask } = server.host.actors.get(Mailer, mailerId);
  for (const id of ['first', 'second']) await server.answered(ask.queue(sealedMail(id, 'other')));
  await server.advance(1_000);
  t.is(postbox.messages.length, 1);
  await server.advance(60_000);
  t.is(postbox.messages.length, 2);
});
