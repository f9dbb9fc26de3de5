/** Accounts that make this server send mail to people who never asked for it. */
import test, { type ExecutionContext } from 'ava';
import { type Device, deleteAccount } from '../kit/device.ts';
import { Postbox } from '../kit/postbox.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const victim = 'victim@example.net';
const dayMs = 86_400_000;
const form = { 'content-type': 'application/x-www-form-urlencoded' };

async function withMail(t: ExecutionContext, mail: object = {}) {
  const postbox = new Postbox();
  const from = { name: 'Notes', address: 'notes@notes.test' };
  const settings = { host: 'localhost', from, publicUrl: 'https://notes.test', ...mail };
  const server = await startServer(t, { mailSender: postbox, mail: settings });
  const toVictim = () => postbox.messages.filter(({ recipient }) => recipient.endsWith('@example.net'));
  return { server, postbox, toVictim };
}

const invite = (device: Device, identifier: string) =>
  device.call('POST', '/v1/subscription-invites', { body: { identifier } });
/** More requests than an account may have mailed to others on its first day, under names that lead to one mailbox. */
async function bomb(device: Device): Promise<void> {
  for (const identifier of [victim, 'victim+1@example.net', 'victim+2@example.net', 'victim+3@example.net']) {
    await invite(device, identifier);
  }
}
test('however many new accounts write to one mailbox, and are deleted after it, it gets a few mails a day', async (t) => {
  const { server, toVictim } = await withMail(t);
  for (let n = 0; n < 6; n += 1) {
    const mallory = await server.device(`mallory-${n}@example.org`);
    await bomb(mallory);
    await server.advance(3_000);
    await deleteAccount(mallory);
    await server.advance(3_000);
  }
  t.is(toVictim().length, 5);
});

test('new accounts take none of what older ones may send, and an account sends more once it is a day old', async (t) => {
  const { server, toVictim } = await withMail(t, { mailboxPerDay: 8 });
  const friend = await server.device('friend@example.org');
  await server.advance(dayMs);
  for (const n of [1, 2, 3]) await bomb(await server.device(`mallory-${n}@example.org`));
  await server.advance(3_000);
  t.is(toVictim().length, 2);
  await bomb(friend);
  await server.advance(3_000);
  t.is(toVictim().length, 2 + 4);
});

async function stop(server: TestServer, link: string) {
  const path = new URL(link).pathname;
  return server.call('POST', path, { text: 'List-Unsubscribe=One-Click', headers: form });
}

test('the link of a mail stops all mail to its address, for good and whoever sends, but not codes', async (t) => {
  const { server, postbox, toVictim } = await withMail(t);
  await invite(await server.device('mallory@example.org'), victim);
  await server.until(() => toVictim().length === 1, 10_000);
  const [{ unsubscribeLink = '', text = '' } = {}] = toVictim();
  t.true(text.includes(unsubscribeLink));
  t.true(unsubscribeLink.startsWith('https://notes.test/v1/mail/unsubscribe/'));
  t.false(unsubscribeLink.includes('victim'));
  const page = await server.call('GET', new URL(unsubscribeLink).pathname);
  t.is(page.status, 200);
  t.true(page.text.includes('<form method="post">'));
  await invite(await server.device('other@example.org'), victim);
  await server.until(() => toVictim().length === 2, 10_000);
  t.is((await stop(server, unsubscribeLink)).status, 200);
  await server.restart();
  for (const n of [1, 2])
    await invite(await server.device(`another-${n}@example.org`), 'Victim+x@Example.NET');
  await server.advance(3_000);
  t.is(toVictim().length, 2);
  const owner = await server.device(victim);
  t.is((await owner.call('POST', '/v1/mfa/magic-link/status', { body: { enabled: true } })).status, 200);
  await server.call('POST', '/v1/mfa/magic-link/request', { body: { email: victim } });
  await server.until(() => toVictim().length === 3, 10_000);
  t.is(postbox.messages.at(-1)?.unsubscribeLink, undefined);
});

test('nobody stops the mail of others: a link that is not ours stops nothing and tells nothing', async (t) => {
  const { server, toVictim } = await withMail(t);
  const mallory = await server.device('mallory@example.org');
  await invite(mallory, victim);
  await server.until(() => toVictim().length === 1, 10_000);
  const link = toVictim()[0]?.unsubscribeLink ?? '';
  const altered = link.slice(0, -2) + (link.at(-2) === 'A' ? 'B' : 'A') + link.slice(-1);
  for (const wrong of [altered, `${link}x`, 'https://x/v1/mail/unsubscribe/x']) {
    t.is((await stop(server, wrong)).status, 404);
    t.is((await server.call('GET', new URL(wrong).pathname)).status, 404);
  }
  await invite(await server.device('friend@example.org'), victim);
  await server.until(() => toVictim().length === 2, 10_000);
});
