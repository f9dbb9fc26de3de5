/**
 * A real identity provider on a separate port, where every user is signed in at once. It checks PKCE, rotates refresh
 * tokens, and ends a grant whose code or refresh token comes twice. Tests inject the faults that no provider makes on
 * purpose.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import Provider, { type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import { jwkOf } from './jwk.ts';

export const clientId = 'scriptorium';
export const redirectUri = 'http://127.0.0.1/v1/assistant/subscription/callback';
export const providerWords = 'words-of-the-provider';

function* endlessWords() {
  yield '{"access_token":"';
  for (;;) yield 'x'.repeat(65_536);
}

/** Answers in place of the provider, for the token endpoint. */
const misbehaviours = {
  redirect: (response: ServerResponse) =>
    response.writeHead(307, { location: `/elsewhere?${providerWords}` }).end(providerWords),
  'gzip bomb': (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .end(gzipSync(Buffer.alloc(64 * 1_048_576, 0x20))),
  huge: (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ access_token: 'x', token_type: 'bearer', more: 'x'.repeat(600_000) })),
  endless: (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    // The connection ends in the middle of it.
    pipeline(Readable.from(endlessWords()), response, () => {});
  },
  'the head of an answer and nothing else': (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(),
  'a token of the wrong type of content': (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(JSON.stringify({ access_token: providerWords, token_type: 'bearer' })),
  'another type of token': (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ access_token: providerWords, token_type: 'mac' })),
  'half of a JSON text': (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"token_type":"bearer","access_token":"${providerWords}`),
  'a list': (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([providerWords])),
  'a refusal of the code': (response: ServerResponse) =>
    response
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: 'invalid_grant', error_description: providerWords })),
  'no JSON': (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${providerWords}`),
  'no token': (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ providerWords })),
  'no header token': (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ access_token: 'a\r\nx: y', token_type: 'bearer' })),
  'rate limit': (response: ServerResponse) =>
    response.writeHead(429, { 'retry-after': '100' }).end(providerWords),
  'internal error': (response: ServerResponse) => response.writeHead(500).end(providerWords),
  cut: (response: ServerResponse) => response.destroy(),
  forbidden: (response: ServerResponse) => response.writeHead(403).end(providerWords),
  'no refresh token': (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ access_token: 'alone', token_type: 'bearer', expires_in: 3_600 })),
} as const;
export type Misbehaviour = keyof typeof misbehaviours;
export const misbehaviourNames = Object.keys(misbehaviours) as readonly Misbehaviour[];

/** In the format of the token endpoint. */
interface IssuedTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

export async function startIdentityProvider(t: ExecutionContext, granted: (accessToken: string) => void) {
  const issued: IssuedTokens[] = [];
  const requests: URLSearchParams[] = [];
  let misbehaviour: Misbehaviour | undefined;
  let held: { readonly grant: string | undefined; readonly until: Promise<void> } | undefined;
  let elsewhere = 0;

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let lifetimeSeconds = 3_600;
  const provider = providerAt(url, () => lifetimeSeconds);
  provider.on('grant.success', ({ body }: { body: unknown }) => {
    issued.push(body as IssuedTokens);
    granted((body as IssuedTokens).access_token);
  });
  const serve = provider.callback();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (path.startsWith('/elsewhere')) elsewhere += 1;
    if (path.startsWith('/interaction/')) {
      const result = { login: { accountId: 'alice@provider.test' }, consent: {} };
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    }
    if (!path.startsWith('/token')) return serve(request, response);
    const body = await textOf(request);
    const fields = new URLSearchParams(body);
    requests.push(fields);
    if (held?.grant === undefined || held.grant === fields.get('grant_type')) await held?.until;
    if (misbehaviour !== undefined) return void misbehaviours[misbehaviour](response);
    return serve(again(request, body), response);
  }

  return {
    url,
    /** What it has granted, in the format of its answers. */
    issued,
    /** The requests to its token endpoint. */
    requests,
    /** How often somebody has followed its redirect. */
    get elsewhere() {
      return elsewhere;
    },
    endpoints: { authorizeUrl: `${url}/auth`, tokenUrl: `${url}/token` },
    misbehave(how: Misbehaviour | undefined) {
      misbehaviour = how;
    },
    /** Its token endpoint stays silent until the returned function is called, if given only for this type of grant. */
    hold(grant?: string): () => void {
      let release = () => {};
      const until = new Promise<void>((resolve) => {
        release = () => {
          held = undefined;
          resolve();
        };
      });
      held = { grant, until };
      return release;
    },
    /** The lifetime of access tokens from now on. */
    lifetimeSeconds(seconds: number): void {
      lifetimeSeconds = seconds;
    },
    /** Like the user of the provider. */
    async revoke(): Promise<void> {
      const { refresh_token: token = '' } = issued.at(-1) ?? {};
      await (await provider.RefreshToken.find(token))?.destroy();
    },
    /** What a browser brings back from this address. */
    async agree(authorizationUrl: string): Promise<URLSearchParams> {
      const cookies = new Map<string, string>();
      let next = authorizationUrl;
      for (let hops = 0; hops < 10; hops += 1) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const { headers } = await fetch(next, { redirect: 'manual', headers: { cookie } });
        for (const line of headers.getSetCookie()) {
          const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? [];
          cookies.set(name, value);
        }
        next = new URL(headers.get('location') ?? '', next).href;
        if (next.startsWith(redirectUri)) return new URL(next).searchParams;
      }
      throw new Error(`the provider did not send back: ${next}`);
    },
  };
}

function providerAt(url: string, lifetimeSeconds: () => number): Provider {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...jwkOf(privateKey), use: 'sig', alg: 'ES256' };
  return new Provider(url, {
    clients: [
      {
        client_id: clientId,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    adapter: adapterIn(new Map()),
    jwks: { keys: [key] } as never,
    cookies: { keys: ['of the test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'email', 'org'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, org: { id: 'org-7' } }),
    }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: lifetimeSeconds,
      AuthorizationCode: 60,
      IdToken: 3_600,
      Interaction: 600,
      Grant: 86_400,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    async loadExistingGrant({ oidc }) {
      const { session, client, provider } = oidc;
      const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });
}

/** A request whose body was read already. */
function again({ socket, method, url, headers }: IncomingMessage, body: string): IncomingMessage {
  const request = Object.assign(new IncomingMessage(socket), { method, url, headers, complete: true });
  request.push(body);
  request.push(null);
  return request;
}

/** The state of the provider. */
const adapterIn =
  (stored: Map<string, AdapterPayload>): AdapterFactory =>
  (model) => {
    const named = (id: string) => `${model}:${id}`;
    return {
      upsert: async (id, payload) => void stored.set(named(id), payload),
      find: async (id) => stored.get(named(id)),
      findByUid: async (uid) => [...stored.values()].find((each) => each.uid === uid),
      findByUserCode: async () => undefined,
      consume: async (id) => void Object.assign(stored.get(named(id)) ?? {}, { consumed: 1 }),
      destroy: async (id) => void stored.delete(named(id)),
      async revokeByGrantId(grantId) {
        for (const [key, each] of stored) if (each.grantId === grantId) stored.delete(key);
      },
    };
  };

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
