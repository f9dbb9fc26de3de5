/** Two names for one thing: what mail, or people, read as somebody else's address is no name here. */
import test from 'ava';
import { register } from '../kit/account.ts';
import { mailTo, Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';

const victim = 'victim@example.net';
const lookalikes = [
  'victim@ｅxample.net',
  'victim@example.ｎet',
  'ｖictim@example.net',
  'victim@exﬁample.net',
];

test('nobody registers, or changes to, a name that mail reads as another', async (t) => {
  const postbox = new Postbox();
  const server = await startServer(t, mailTo(postbox));
  await server.device(victim);
  const phone = await server.device('mallory@example.org');
  const { userUuid, password } = phone.account;
  for (const email of lookalikes) {
    await t.throwsAsync(register(server, { email }), undefined, email);
    const answer = await phone.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      body: {
        ...{ current_password: password, new_password: 'n'.repeat(64), new_email: email },
        ...{ pw_nonce: 'c'.repeat(64), api: '20200115', version: '004' },
      },
    });
    t.is(answer.status, 401, email);
  }
});

test('nobody has mail sent to an address that mail reads as another', async (t) => {
  const server = await startServer(t, mailTo(new Postbox()));
  const phone = await server.device('mallory@example.org');
  for (const email of lookalikes) {
    const invite = await phone.call('POST', '/v1/subscription-invites', { body: { identifier: email } });
    t.is(invite.status, 400, email);
    const body = { recipientEmail: email, shareUrl: 'https://notes.test/s/a#k', intervalDays: 1 };
    t.is((await phone.call('POST', '/v1/dead-man-switches', { body })).status, 400, email);
    const destination = { channel: 'email', destination: email };
    t.not(
      (await phone.call('PUT', '/v1/reminder-delivery/config', { body: destination })).status,
      200,
      email,
    );
  }
});
