/** A whole server in its operator's configuration is paired with a real identity provider, and answers through it. */
import test from 'ava';
import { openStream, streamed } from '../../kit/assisted.ts';
import { Device } from '../../kit/device.ts';
import { freePorts } from '../../kit/free-ports.ts';
import { call } from '../../kit/http.ts';
import { startIdentityProvider } from '../../kit/identity-provider.ts';
import { startModelServer } from '../../kit/model-server.ts';
import { adminEmails, base, pairingKey, pairingSettingsFor } from '../../kit/pairing.ts';
import { startServer } from '../../kit/started-server.ts';

test('a server is paired by its settings alone, refreshes its token and answers, and logs none of it', async (t) => {
  t.timeout(180_000);
  const model = await startModelServer(t);
  const identity = await startIdentityProvider(t, (token) => model.state.tokens.add(token));
  // Too short to be used: each answer needs a refresh.
  identity.lifetimeSeconds(30);
  const lines: string[] = [];
  // The address that it prints is its public one.
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const ofPairing = pairingSettingsFor(identity.endpoints, model.url);
  const settings = { ...ofPairing, PORT: String(port), LOG_LEVEL: 'debug' };
  const server = await startServer(settings, (line) => void lines.push(line));
  t.teardown(() => server.stop());
  const admin = await Device.register({ url }, { email: adminEmails[0] });
  const user = await Device.register({ url }, { email: 'bob@example.org' });
  const ask = () => streamed(openStream(url, user, {}));
  t.is((await ask()).status, 503);

  const { body: started } = await admin.call('POST', `${base}/start`);
  const brought = await identity.agree(started.authorizationUrl);
  const page = await call(url, 'GET', `${base}/callback?${brought}`);
  t.is(page.status, 200, page.text);
  const { subscription } = (await admin.call('GET', `${base}/status`)).body;
  t.like(subscription, { paired: true, accountLabel: 'alice@provider.test', accountId: 'org-7' });

  for (const round of [1, 2]) {
    const { events } = await ask();
    t.deepEqual(events.at(-1), { kind: 'finish', stopReason: 'end_turn' });
    const refreshes = identity.requests.filter((each) => each.get('grant_type') === 'refresh_token');
    t.is(refreshes.length, round);
  }
  t.is(model.received.at(-1)?.headers.authorization, `Bearer ${identity.issued.at(-1)?.access_token}`);

  const [, metricsUrl = ''] = /probes: (\S+)/.exec(lines.join('\n')) ?? [];
  const metrics = await (await fetch(metricsUrl)).text();
  t.regex(metrics, /^scriptorium_pairing_refreshes_total\{outcome="granted"\} 2$/m);

  await server.stop();
  t.deepEqual(server.failures, []);
  const log = lines.join('\n');
  const secrets = [
    ...identity.issued.flatMap((each) => [each.access_token, each.refresh_token, each.id_token]),
    ...brought.values(),
    pairingKey.toString('hex'),
  ];
  for (const secret of secrets) t.false(log.includes(secret));
});
