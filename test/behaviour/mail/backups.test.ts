/** Backups by e-mail, with a clock that the tests move. */
import test, { type ExecutionContext } from 'ava';
import { mailerId } from '../../../actors/mailer/contract.ts';
import { MailAdministration } from '../../../actors/mailer/operator-contract.ts';
import { createMailSender } from '../../../actors/mailer/send.ts';
import type { Attachment } from '../../../actors/mailer/sender.ts';
import { defaultMailSettings } from '../../../actors/mailer/settings.ts';
import { createOutboundHttp } from '../../../actors/outbound/node-http.ts';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { changeEmail } from '../../kit/account.ts';
import { FakeClock } from '../../kit/clock.ts';
import type { Device } from '../../kit/device.ts';
import { note } from '../../kit/items.ts';
import { mailTo, Postbox } from '../../kit/postbox.ts';
import { type ServerOptions, startServer, type TestServer } from '../../kit/server.ts';
import { startSmtpServer } from '../../kit/smtp-server.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const mebibyte = 1_048_576;

const settings = ({ account }: Device) => `/v1/users/${account.userUuid}/settings`;
const want = (device: Device, value: string) =>
  device.call('PUT', settings(device), { body: { name: 'EMAIL_BACKUP_FREQUENCY', value } });
const lastSent = async (device: Device): Promise<string | undefined> =>
  (await device.call('GET', `${settings(device)}/email_backup_last_sent`)).body.setting?.value;

const textOf = (file: Attachment | undefined) => String(Buffer.concat(file?.pieces ?? []));
const uuidsOf = (items: readonly { readonly uuid: string }[]) => items.map(({ uuid }) => uuid).toSorted();

async function started(t: ExecutionContext, options: ServerOptions = {}) {
  const postbox = new Postbox();
  const server = await startServer(t, { ...mailTo(postbox), ...options });
  const phone = await server.device();
  const files = () => postbox.messages.map(({ attachment }) => attachment);
  return { server, phone, postbox, files };
}

const away = () => ({ result: 'unable', failure: 'connection' }) as const;

test('a backup comes as soon as it is wanted, and then every day: all items, as clients import them', async (t) => {
  const { server, phone, postbox, files } = await started(t);
  const items = Array.from({ length: 700 }, () => note({ uuid: crypto.randomUUID() }));
  for (let at = 0; at < items.length; at += 100) await phone.sync({ items: items.slice(at, at + 100) });
  t.is(await lastSent(phone), undefined);
  t.like((await want(phone, 'daily')).body, { success: true, setting: { value: 'daily' } });
  await server.advance(minuteMs);
  const [message, ...others] = postbox.messages;
  t.deepEqual(others, []);
  t.is(message?.recipient, phone.account.email);
  const date = new Date(server.clock.nowMs()).toISOString().slice(0, 10);
  t.is(message?.subject, `Backup of your account, ${date}`);
  t.is(message?.attachment?.filename, `scriptorium-backup-${date}.txt`);
  const file = JSON.parse(textOf(message?.attachment));
  t.deepEqual(Object.keys(file), ['version', 'keyParams', 'items']);
  t.is(file.keyParams.identifier, phone.account.email);
  t.deepEqual(uuidsOf(file.items), items.map(({ uuid }) => uuid).toSorted());
  t.is(file.items.find(({ uuid }: { uuid: string }) => uuid === items[3]?.uuid).content, items[3]?.content);
  const sentAt = await lastSent(phone);
  t.true(Math.abs(Date.parse(sentAt ?? '') - server.clock.nowMs()) <= minuteMs);

  const later = crypto.randomUUID();
  await phone.save(note({ uuid: later }));
  await server.advance(dayMs - 5 * minuteMs);
  t.is(files().length, 1);
  await server.advance(10 * minuteMs);
  t.is(files().length, 2);
  t.true(textOf(files()[1]).includes(later));
  t.not(await lastSent(phone), sentAt);
});

test('how often is counted from the last one, so changing it to and fro brings no more', async (t) => {
  const { server, phone, files } = await started(t);
  await want(phone, 'weekly');
  await server.advance(minuteMs);
  t.is(files().length, 1);
  for (const value of ['disabled', 'daily', 'disabled', 'monthly', 'daily', 'weekly'])
    await want(phone, value);
  await server.advance(6 * dayMs);
  t.is(files().length, 1);
  await server.advance(dayMs);
  t.is(files().length, 2);
  await want(phone, 'monthly');
  await server.advance(29 * dayMs);
  t.is(files().length, 2);
  await server.advance(dayMs + minuteMs);
  t.is(files().length, 3);
});

test('none comes once the user wants none, also by removing the setting, and one that waits is taken back', async (t) => {
  const { server, phone, postbox } = await started(t);
  postbox.answer = away;
  for (const stop of [
    () => want(phone, 'disabled'),
    () => phone.call('DELETE', `${settings(phone)}/EMAIL_BACKUP_FREQUENCY`),
  ]) {
    await want(phone, 'daily');
    await server.advance(minuteMs);
    t.is((await stop()).status, 200);
    await server.advance(minuteMs);
  }
  postbox.answer = () => undefined;
  await server.advance(3 * dayMs);
  t.deepEqual(postbox.messages, []);
});

test('one that is too large is not sent, and the mail says so', async (t) => {
  const limits = { ...defaultMailSettings.limits, mailBytes: mebibyte };
  const postbox = new Postbox();
  const mailOptions = mailTo(postbox);
  const { server, phone } = await started(t, { ...mailOptions, mail: { ...mailOptions.mail, limits } });
  const content = `004:${'x'.repeat(300_000)}`;
  for (let count = 0; count < 4; count += 1) await phone.save(note({ uuid: crypto.randomUUID(), content }));
  await want(phone, 'daily');
  await server.advance(minuteMs);
  const [message] = postbox.messages;
  t.is(message?.attachment, undefined);
  t.regex(message?.text ?? '', /too large for a mail/);
  t.is(await lastSent(phone), undefined);
});

test('one that the relay refuses is followed by a mail that says so', async (t) => {
  const { server, phone, postbox } = await started(t);
  postbox.answer = ({ message }) =>
    message.attachment === undefined ? undefined : { result: 'rejected', failure: 'rejected' };
  await want(phone, 'daily');
  await server.advance(minuteMs);
  t.is(postbox.messages.length, 1);
  t.regex(postbox.messages[0]?.text ?? '', /too large for a mail/);
  t.is(await lastSent(phone), undefined);
  postbox.answer = () => undefined;
  await server.advance(dayMs);
  t.is(postbox.messages.length, 2);
  t.not(await lastSent(phone), undefined);
});

test('it is made when it is sent, and goes to the address that the account has then', async (t) => {
  const { server, phone, postbox, files } = await started(t);
  postbox.answer = away;
  await want(phone, 'daily');
  await server.advance(minuteMs);
  const later = crypto.randomUUID();
  await phone.save(note({ uuid: later }));
  t.is((await changeEmail(phone.server, phone.account, 'new@example.org')).status, 200);
  await server.advance(minuteMs);
  postbox.answer = () => undefined;
  await server.advance(10 * minuteMs);
  t.deepEqual(
    postbox.messages.filter(({ attachment }) => attachment !== undefined).map(({ recipient }) => recipient),
    ['new@example.org'],
  );
  t.true(files().some((file) => textOf(file).includes(later)));
});

test('a banned account is sent none, and one that waits is taken back; they go on after the ban', async (t) => {
  const { server, phone, postbox } = await started(t);
  const user = () => server.host.actors.get(UserAdministration, phone.account.userUuid).ask;
  const ban = (banned: boolean) =>
    server.answered(user().operatorSetBan({ banned, reason: null, by: 'operator' }));
  postbox.answer = away;
  await want(phone, 'daily');
  await server.advance(minuteMs);
  await ban(true);
  postbox.answer = () => undefined;
  await server.advance(3 * dayMs);
  t.deepEqual(postbox.messages, []);
  t.is(await deadMails(server), 0);
  await ban(false);
  await server.advance(minuteMs);
  t.is(postbox.messages.length, 1);
});

test('the operator’s setting is read when one is due, and no flag asks for what it forbids', async (t) => {
  const { server, phone, postbox } = await started(t);
  const flag = (value: string) =>
    server.answered(
      server.host.actors
        .get(UserAdministration, phone.account.userUuid)
        .ask.operatorSetFlag({ name: 'EMAIL_BACKUP_FREQUENCY', value, by: 'operator' }),
    );
  t.true('ok' in (await flag('daily')));
  await server.advance(minuteMs);
  t.is(postbox.messages.length, 1);
  await server.restart({ accounts: { emailBackups: false } });
  await server.advance(3 * dayMs);
  t.is(postbox.messages.length, 1);
  t.true('refused' in (await flag('weekly')));
  await server.restart({ accounts: { emailBackups: true } });
  await server.advance(dayMs + minuteMs);
  t.is(postbox.messages.length, 2);
});

test('one that the queue refuses comes once there is room', async (t) => {
  const limits = { ...defaultMailSettings.limits, mails: 0 };
  const { server, phone, postbox } = await started(t);
  const { mail } = mailTo(postbox);
  await server.restart({ mail: { ...mail, limits } });
  await want(phone, 'weekly');
  await server.advance(minuteMs);
  await server.restart({ mail });
  await server.advance(2 * 3_600_000);
  t.is(postbox.messages.length, 1);
});

test('a deleted account is sent none', async (t) => {
  const { server, phone, postbox } = await started(t);
  postbox.answer = away;
  await want(phone, 'daily');
  await server.advance(minuteMs);
  const gone = await phone.call('DELETE', `/v1/users/${phone.account.userUuid}`, {
    headers: { 'x-server-password': phone.account.password },
  });
  t.is(gone.status, 200, gone.text);
  postbox.answer = () => undefined;
  await server.advance(3 * dayMs);
  t.deepEqual(
    postbox.messages.filter(({ attachment }) => attachment !== undefined),
    [],
  );
  t.is(await deadMails(server), 0);
});

const deadMails = async ({ answered, host }: TestServer): Promise<number> => {
  const { mails } = await answered(host.actors.get(MailAdministration, mailerId).ask.health({}));
  return mails.dead;
};

test('over a real mail server its file can be read again', async (t) => {
  const relay = await startSmtpServer(t);
  const clock = new FakeClock();
  const server = await startServer(t, {
    mail: { host: '127.0.0.1', port: relay.port, from: { name: 'Notes', address: 'notes@home.test' } },
    mailSender: createMailSender({ clock, http: createOutboundHttp({ clock }) }),
    host: { clock },
  });
  const phone = await server.device();
  const content = `004:${'y'.repeat(300_000)}`;
  const items = Array.from({ length: 10 }, () => note({ uuid: crypto.randomUUID(), content }));
  for (const item of items) await phone.save(item);
  await want(phone, 'daily');
  await server.until(() => relay.received.length === 1, minuteMs);
  const file = relay.received[0]?.text.split(/^--.*-Part.*\r\n/m).at(2) ?? '';
  const [, encoded = ''] = file.split('\r\n\r\n');
  const { items: found } = JSON.parse(String(Buffer.from(encoded, 'base64')));
  t.deepEqual(uuidsOf(found), items.map(({ uuid }) => uuid).toSorted());
  t.is(found[0].content, content);
});
