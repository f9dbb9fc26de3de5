import test from 'ava';
import { startServer } from '../../kit/server.ts';

const list = '/v1/app-passwords';

test('an app password is shown once, listed without the password, and deleted', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { appPassword, password } = (await phone.call('POST', list, { body: { label: ' mail ' } })).body;
  t.regex(password, /^[\w-]{43}$/);
  t.is(appPassword.label, 'mail');
  t.is(appPassword.createdAt, new Date(server.clock.nowMs()).toISOString());
  await server.restart();
  const answer = await phone.call('GET', `${list}/`);
  t.deepEqual(answer.body, { appPasswords: [{ ...appPassword, lastUsedAt: null }] });
  t.false(answer.text.includes(password));
  t.is((await phone.call('DELETE', `${list}/${appPassword.uuid}`)).status, 200);
  t.is((await phone.call('DELETE', `${list}/${appPassword.uuid}`)).status, 404);
  t.deepEqual((await phone.call('GET', list)).body, { appPasswords: [] });
});

test('a blank label is refused, and so is one app password too many', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const label of ['', '  ', undefined, 7, 'x'.repeat(2_000)]) {
    t.is((await phone.call('POST', list, { body: { label } })).status, 400, String(label));
  }
  for (let made = 0; made < 100; made += 1) {
    t.is((await phone.call('POST', list, { body: { label: 'one more' } })).status, 200);
  }
  t.is((await phone.call('POST', list, { body: { label: 'one more' } })).status, 400);
  t.is((await phone.call('GET', list)).body.appPasswords.length, 100);
});

test('nobody sees or deletes another user’s app passwords, and no read-only session makes one', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const stranger = await server.device('bob@example.org');
  const { appPassword } = (await phone.call('POST', list, { body: { label: 'mail' } })).body;
  t.is((await stranger.call('DELETE', `${list}/${appPassword.uuid}`)).status, 404);
  t.deepEqual((await stranger.call('GET', list)).body, { appPasswords: [] });
  await server.restart({ accounts: { readonlyUsers: new Set([phone.account.email]) } });
  const tags = [
    await phone.call('POST', list, { body: { label: 'mail' } }),
    await phone.call('DELETE', `${list}/${appPassword.uuid}`),
  ].map(({ status, body }) => `${status} ${body.error.tag}`);
  t.deepEqual(tags, ['403 read-only-access', '403 read-only-access']);
});
