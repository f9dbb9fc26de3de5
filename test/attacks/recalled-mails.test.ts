/** The remains of mails in the queue that one account makes and recalls. */
import test, { type ExecutionContext } from 'ava';
import { mailTable } from '../../actors/mailer/queue-table.ts';
import { defaultMailSettings } from '../../actors/mailer/settings.ts';
import type { Device } from '../kit/device.ts';
import { Postbox } from '../kit/postbox.ts';
import { startServer } from '../kit/server.ts';

const dayMs = 86_400_000;
const from = { name: 'Notes', address: 'notes@notes.test' };
const limits = { ...defaultMailSettings.limits, recalledPerAccount: 4 };

/** A server with a relay that accepts nothing, so that every mail can be recalled. */
async function withBusyRelay(t: ExecutionContext) {
  const postbox = new Postbox();
  postbox.answer = () => ({ result: 'transient', failure: 'provider' });
  const server = await startServer(t, {
    mailSender: postbox,
    mail: {
      host: 'localhost',
      from,
      publicUrl: 'https://notes.test',
      othersPerDay: 0,
      accountPerDay: 0,
      limits,
    },
    accounts: { emailReminders: true },
  });
  const rows = () => server.host.database.sizes.get(mailTable.name) ?? 0;
  return { server, postbox, rows };
}
type Scene = Awaited<ReturnType<typeof withBusyRelay>>;

async function wantReminders(device: Device): Promise<void> {
  const body = { name: 'EMAIL_REMINDERS_ENABLED', value: 'true' };
  await device.call('PUT', `/v1/users/${device.account.userUuid}/settings`, { body });
}

async function makeAndDelete(t: ExecutionContext, { server }: Scene, device: Device, count: number) {
  for (let made = 0; made < count; made += 1) {
    const body = { dueAt: new Date(server.clock.nowMs()).toISOString(), message: 'Soon' };
    const answer = await device.call('POST', '/v1/email-reminders', { body });
    await server.advance(3_000);
    const { uuid } = answer.body.emailReminder;
    t.is((await device.call('DELETE', `/v1/email-reminders/${uuid}`)).status, 200);
    await server.advance(3_000);
  }
}

test('an account that makes reminders and deletes them leaves a bounded number of mails, and takes no room of others', async (t) => {
  const scene = await withBusyRelay(t);
  const { server, rows } = scene;
  const mallory = await server.device('mallory@example.org');
  await wantReminders(mallory);
  await makeAndDelete(t, scene, mallory, 3);
  t.is(rows(), 3);
  await makeAndDelete(t, scene, mallory, 6);
  t.is(rows(), 4);
  const friend = await server.device('friend@example.org');
  await wantReminders(friend);
  await makeAndDelete(t, scene, friend, 2);
  t.is(rows(), 6);
  // After a week the server has forgotten them, and the account has its capacity again.
  for (let days = 0; days < 8; days += 1) await server.advance(dayMs);
  t.is(rows(), 0);
  await makeAndDelete(t, scene, mallory, 6);
  t.is(rows(), 4);
});

test('an account that invites and cancels leaves a bounded number of mails', async (t) => {
  const { server, rows } = await withBusyRelay(t);
  const mallory = await server.device('mallory@example.org');
  const path = '/v1/subscription-invites';
  for (let made = 0; made < 10; made += 1) {
    const answer = await mallory.call('POST', path, { body: { identifier: `friend-${made}@example.org` } });
    const uuid = answer.body.sharedSubscriptionInvitationUuid;
    await server.advance(3_000);
    t.is((await mallory.call('DELETE', `${path}/${uuid}`)).status, 200);
    await server.advance(3_000);
  }
  t.is(rows(), 4);
});
