/** A server that can pair with a real identity provider, and administrators who pair it. */
import type { ExecutionContext } from 'ava';
import { noAssistant } from '../../actors/assistant/policy.ts';
import { createOutboundHttp } from '../../actors/outbound/node-http.ts';
import { createPairingProvider } from '../../actors/pairing/oauth.ts';
import { createPairingSeal } from '../../actors/pairing/seal.ts';
import type { PairingTools } from '../../actors/pairing/tools.ts';
import { eventsIn, openStream } from './assisted.ts';
import { FakeClock } from './clock.ts';
import type { Device } from './device.ts';
import type { Answer } from './http.ts';
import { clientId, redirectUri, startIdentityProvider } from './identity-provider.ts';
import { startModelServer } from './model-server.ts';
import { type ServerOptions, startServer } from './server.ts';

export const base = '/v1/assistant/subscription';
export const pairingKey = Buffer.alloc(32, 9);
export const adminEmails = ['admin@example.org', 'second@example.org'] as const;
const profile = { id: 'paid', provider: 'subscription', model: 'large', subscriptionId: 'default' } as const;
/** Names the default subscription. */
const pairedPolicy = { ...noAssistant, profiles: new Map([[profile.id, profile]]), default: profile };

/** The settings of a process that is paired with these; `profile` answers everybody. */
export const pairingSettingsFor = (
  { authorizeUrl, tokenUrl }: { readonly authorizeUrl: string; readonly tokenUrl: string },
  modelUrl: string,
): Readonly<Record<string, string>> => ({
  // The base of the redirect that the provider sends the browser to, as registered there.
  PUBLIC_URL: 'http://127.0.0.1',
  ADMIN_EMAILS: adminEmails.join(),
  ASSISTANT_SUBSCRIPTION_ENCRYPTION_KEY: pairingKey.toString('hex'),
  ASSISTANT_PROVIDER_OAUTH_AUTHORIZE_URL: authorizeUrl,
  ASSISTANT_PROVIDER_OAUTH_TOKEN_URL: tokenUrl,
  ASSISTANT_PROVIDER_OAUTH_CLIENT_ID: clientId,
  ASSISTANT_PROVIDER_OAUTH_SCOPES: 'openid',
  ASSISTANT_PROVIDER_OAUTH_ACCOUNT_ID_CLAIM: 'org.id',
  ASSISTANT_SUBSCRIPTION_BASE_URL: `${modelUrl}/subscription/v1`,
  ASSISTANT_PROFILES: JSON.stringify({ profiles: [profile], default: profile.id }),
});

export async function paired(t: ExecutionContext, options: ServerOptions = {}) {
  const model = await startModelServer(t);
  let isAccepting = true;
  const identity = await startIdentityProvider(t, (token) => {
    if (isAccepting) model.state.tokens.add(token);
  });
  const toolsOn = (clock: FakeClock, key: Buffer = pairingKey): PairingTools => ({
    seal: createPairingSeal(key),
    provider: createPairingProvider(
      {
        ...identity.endpoints,
        clientId,
        redirectUri,
        scopes: 'openid',
        baseUrl: undefined,
        accountIdClaim: 'org.id',
      },
      createOutboundHttp({ clock }),
    ),
  });
  const clock = options.host?.clock ?? new FakeClock();
  const domain = {
    accounts: { adminEmails: new Set<string>(adminEmails), ...options.accounts },
    assistant: options.assistant ?? pairedPolicy,
    pairing: options.pairing ?? toolsOn(clock),
  };
  const server = await startServer(t, {
    ...options,
    ...domain,
    providers: { providers: model.providers },
    host: { ...options.host, clock },
  });
  const admin = await server.device(adminEmails[0]);
  const as = (device: Device, method: string, path: string, body?: object): Promise<Answer> =>
    server.answered(device.call(method, base + path, body === undefined ? {} : { body }), 60_000);
  const call = (method: string, path: string, body?: object) => as(admin, method, path, body);
  const start = async (subscriptionId?: string) =>
    (await call('POST', '/start', subscriptionId === undefined ? {} : { subscriptionId })).body;
  const callback = (query: string | URLSearchParams): Promise<Answer> =>
    server.answered(server.call('GET', `${base}/callback?${query}`), 60_000);
  const agree = async (subscriptionId?: string) =>
    identity.agree((await start(subscriptionId)).authorizationUrl);

  return {
    identity,
    model,
    server,
    admin,
    domain,
    as,
    call,
    start,
    callback,
    agree,
    toolsWith: (key: Buffer) => toolsOn(clock, key),
    async pair(subscriptionId?: string): Promise<void> {
      const answer = await callback(await agree(subscriptionId));
      if (answer.status !== 200) throw new Error(`not paired: ${answer.status} ${answer.text}`);
    },
    status: async (subscriptionId = 'default') =>
      (await call('GET', `/status?subscriptionId=${subscriptionId}`)).body.subscription,
    /** Whether the model accepts the tokens that the provider grants from now on. */
    acceptTokens(isAccepted: boolean): void {
      isAccepting = isAccepted;
    },
    /** One answer of the assistant. */
    async ask(by = admin) {
      const answer = await server.answered(openStream(server.url, by, {}), 60_000);
      const text = await server.answered(answer.text(), 60_000);
      return { status: answer.status, text, events: eventsIn(text) };
    },
    trail: async (of = admin): Promise<string[]> => {
      await server.advance(5_000);
      const path = `/v1/users/${of.account.userUuid}/audit-trail`;
      const { body } = await server.answered(of.call('GET', path));
      return body.events.map(({ event }: { event: string }) => event);
    },
  };
}
