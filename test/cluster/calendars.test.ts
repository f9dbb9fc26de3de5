/** A calendar program whose requests go to three nodes in turn sees one calendar, and none once its token is revoked. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { findOrMakeCalendarClients } from '../../tools/calendar-clients.ts';
import { makeToken, publish, showing, tokensPath, unpublish, wantCalendar } from '../kit/calendar.ts';
import { Device } from '../kit/device.ts';
import { call } from '../kit/http.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startRoundRobin } from '../kit/round-robin.ts';
import { type Builds, buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';

const python = findOrMakeCalendarClients(process.env);
const script = new URL('../kit/calendar-client.py', import.meta.url).pathname;
const run = promisify(execFile);
let builds: Builds;

test.before(async () => {
  builds = await buildTwice('calendars');
});

test('caldav of Python over three nodes lists what is open and what is done, and notices changes at once', async (t) => {
  t.timeout(180_000);
  const cluster = await Cluster.start({
    builds,
    leaseMs: 3_000,
    nodes: 3,
    nats: [await startNatsServer()],
    settings: { CALDAV_ENABLED: 'true' },
  });
  t.teardown(() => cluster.stop());
  const balancer = await startRoundRobin(t, cluster.gateways);
  const phone = await Device.register(balancer);
  await wantCalendar(phone);
  const { token } = await makeToken(phone);
  const see = async () => {
    const asked = run(python, [script, `${balancer.url}/dav/`, 'me']);
    asked.child.stdin?.end(token);
    const { all, open } = JSON.parse((await asked).stdout);
    return [all, open];
  };
  await publish(phone, { uid: 'a', summary: 'first' });
  await publish(phone, { uid: 'b', summary: 'second' });
  t.deepEqual(await see(), [
    ['first', 'second'],
    ['first', 'second'],
  ]);
  await publish(phone, { uid: 'a', summary: 'first', completed: true });
  await publish(phone, { uid: 'c', summary: 'third' });
  await unpublish(phone, 'b');
  t.deepEqual(await see(), [['first', 'third'], ['third']]);
  t.true(
    balancer.counts.every((count) => count >= 5),
    balancer.counts.join(),
  );

  // Each node says the same of an object, and the same as the others: a program may compare what it got anywhere.
  const object = `/dav/calendars/${phone.account.userUuid}/todos/a.ics`;
  const got = () => Promise.all(cluster.gateways.map((url) => call(url, 'GET', object, showing(token))));
  const [first, ...others] = await got();
  t.is(first?.status, 200);
  for (const { status, text, headers } of others) {
    t.deepEqual([status, text, headers.get('etag')], [200, first?.text, first?.headers.get('etag')]);
  }
  t.is((await phone.call('DELETE', tokensPath)).status, 200);
  t.deepEqual(
    (await got()).map(({ status }) => status),
    [401, 401, 401],
  );
});
