/** Security keys as Chromium makes and uses them, with its own virtual authenticator. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { alice, challengeOf, headerSessions } from '../kit/account.ts';
import { Device } from '../kit/device.ts';
import { call } from '../kit/http.ts';
import { type RunningServer, startServer } from '../kit/started-server.ts';
import { launchChromium, plugInSecurityKey } from './chromium.ts';
import { type Origin, openOrigin } from './origin.ts';

let browser: Browser;
let origin: Origin;
let server: RunningServer;
let page: Page;

test.before(async () => {
  [browser, origin] = await Promise.all([launchChromium(process.env), openOrigin()]);
  server = await startServer({ U2F_RELYING_PARTY_ID: 'localhost', U2F_EXPECTED_ORIGIN: origin.url });
  page = await browser.newPage();
  await page.goto(`${origin.url}/page`);
});
test.after.always(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), origin?.close()]);
});

/** The browser's reading of the server's options. */
const inBrowser = (how: 'create' | 'get', options: unknown): Promise<Record<string, unknown>> =>
  page.evaluate(
    async ([method, json]) => {
      // The types of the language level do not know how browsers read and write these as JSON.
      // biome-ignore lint/suspicious/noExplicitAny: see above
      const { PublicKeyCredential, navigator } = globalThis as any;
      const parse = method === 'create' ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON';
      const publicKey = PublicKeyCredential[parse](json);
      return (await navigator.credentials[method as string]({ publicKey })).toJSON();
    },
    [how, options] as const,
  );

async function loginParams(factors: object = {}) {
  const verifier = randomUUID();
  const body = { email: alice.email, api: headerSessions, code_challenge: challengeOf(verifier), ...factors };
  const { status, body: answer } = await call(server.url, 'POST', '/v2/login-params', { body });
  return { status, tag: answer.error?.tag, verifier };
}

test('a key that a browser made signs in, again and again, and nothing else does', async (t) => {
  const phone = await Device.register(server);
  await plugInSecurityKey(page);
  const offered = await phone.call('GET', '/v1/authenticators/generate-registration-options');
  const attestationResponse = await inBrowser('create', offered.body.options);
  const body = { userUuid: phone.account.userUuid, name: 'mine', attestationResponse };
  const added = await phone.call('POST', '/v1/authenticators/verify-registration', { body });
  t.is(added.status, 200, added.text);

  t.like(await loginParams(), { status: 401, tag: 'u2f-required' });
  for (let time = 0; time < 2; time += 1) {
    const username = { body: { username: alice.email } };
    const path = '/v1/authenticators/generate-authentication-options';
    const { options } = (await call(server.url, 'POST', path, username)).body;
    const authenticator_response = await inBrowser('get', options);
    const passed = await loginParams({ authenticator_response });
    t.is(passed.status, 200);
    const { email, password } = alice;
    const login = { email, password, api: headerSessions, code_verifier: passed.verifier };
    t.is((await call(server.url, 'POST', '/v2/login', { body: login })).status, 200);
    t.like(await loginParams({ authenticator_response }), { status: 401, tag: 'mfa-invalid' });
  }

  t.is((await phone.call('DELETE', `/v1/authenticators/${added.body.id}`)).status, 200);
  t.is((await loginParams()).status, 200);
});
