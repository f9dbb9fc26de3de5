/** Mail through the relay of the settings, on a started server. */
import test from 'ava';
import { alice } from '../../kit/account.ts';
import { Device } from '../../kit/device.ts';
import { startSmtpServer } from '../../kit/smtp-server.ts';
import { startServer } from '../../kit/started-server.ts';

for (const signIn of [{}, { user: 'mailer', password: 'two words' }]) {
  const how = 'user' in signIn ? 'that asks for a password' : 'that asks for none';
  test(`a relay of the settings on this machine ${how} is sent through`, async (t) => {
    const relay = await startSmtpServer(t, signIn);
    const server = await startServer({
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(relay.port),
      SMTP_FROM: 'Our notes <notes@example.org>',
      ...('user' in signIn && { SMTP_USER: signIn.user, SMTP_PASSWORD: signIn.password }),
      ADMIN_EMAILS: alice.email,
    });
    t.teardown(() => server.stop());
    const phone = await Device.register(server);
    const body = { relayId: 'direct', recipient: 'somebody@example.org' };
    const tried = await phone.call('POST', '/v1/admin/email-delivery/test', { body });
    t.like(tried.body, { accepted: true, outcome: 'sent' }, tried.text);
    const [message] = await relay.messages(1);
    t.like(message, { sender: 'notes@example.org', recipients: ['somebody@example.org'] });
    t.is(message?.user, 'user' in signIn ? 'mailer' : null);
    t.deepEqual(server.failures, []);
  });
}
