/** A calendar program whose requests go to three nodes in turn sees one calendar, and none once its token is revoked. */
import test from 'ava';
import { makeToken, publish, showing, tokensPath, wantCalendar } from '../kit/calendar.ts';
import { calendarPrograms } from '../kit/calendar-programs.ts';
import { Device } from '../kit/device.ts';
import { call } from '../kit/http.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import { startRoundRobin } from '../kit/round-robin.ts';
import { type Builds, buildTwice } from './build.ts';
import { Cluster } from './cluster.ts';

let builds: Builds;

test.before(async () => {
  builds = await buildTwice('calendars');
});

test('caldav of Python, vdirsyncer with todoman, and tsdav see one calendar over three nodes, and notice changes at once', async (t) => {
  t.timeout(240_000);
  const cluster = await Cluster.start({
    builds,
    leaseMs: 3_000,
    nodes: 3,
    nats: [await startNatsServer()],
    settings: { CALDAV_ENABLED: 'true' },
  });
  t.teardown(() => cluster.stop());
  const balancer = await startRoundRobin(t, cluster.gateways);
  const publisher = async (email: string) => {
    const phone = await Device.register(balancer, { email });
    await wantCalendar(phone);
    return { phone, ...(await makeToken(phone)) };
  };
  for (const [index, sees] of Object.values(calendarPrograms).entries())
    await sees(t, { url: balancer.url, ...(await publisher(`user-${index}@example.org`)) });
  t.true(
    balancer.counts.every((count) => count >= 5),
    balancer.counts.join(),
  );

  const { phone, token } = await publisher('one@example.org');
  await publish(phone, { uid: 'a' });
  // Every request and every node must return the same object, because a program may compare answers from anywhere.
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
