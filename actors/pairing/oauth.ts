/**
 * The client of the provider's authorization server: a public client with PKCE. The library makes the requests and checks the
 * answers. The requests use this server's outbound HTTP, which follows no redirect and bounds time, size and decompression. Only
 * the grant of an answer is kept; any failure becomes one word.
 */

import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import type { Registry } from 'prom-client';
import { meterOf } from '../../runtime/meter.ts';
import { type OutboundAnswer, OutboundError, type OutboundHttp } from '../outbound/http.ts';
import { createPairingSeal } from './seal.ts';
import {
  type ConfiguredPairing,
  type PairingSecrets,
  type PairingSetup,
  pairingKeyOf,
  pairingOf,
} from './settings.ts';
import type { GrantFailure, GrantResult, PairingProvider, PairingTools, ProviderGrant } from './tools.ts';

const timeoutMs = 15_000;
const answerBytesMax = 512 * 1_024;
/** The longest token, as a pairing has to fit into one record. */
const tokenCharactersMax = 16_384;
const lifetimeSecondsUsual = 3_600;
const lifetimeSecondsMax = 10 * 365 * 86_400;

/** The failure of a request for a grant. It is thrown through the library, and never leaves this file. */
class GrantError extends Error {
  readonly failure: GrantFailure;
  readonly retryAfterMs: number | undefined;

  constructor(failure: GrantFailure, retryAfterMs?: number) {
    super(`a provider did not grant: ${failure}`);
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The answer of one request. The library does not get its ID token, as it could not know the issuer. */
interface CodeExchange {
  status?: number;
  idToken?: unknown;
}

export function createPairingProvider(setup: PairingSetup, http: OutboundHttp): PairingProvider {
  const { authorizeUrl, tokenUrl, clientId, scopes, redirectUri, accountIdClaim } = setup;
  const server: oauth.AuthorizationServer = {
    issuer: new URL(tokenUrl).origin,
    authorization_endpoint: authorizeUrl,
    token_endpoint: tokenUrl,
  };
  const client: oauth.Client = { client_id: clientId };

  function optionsFor(exchange: CodeExchange, signal?: AbortSignal): oauth.TokenEndpointRequestOptions {
    return {
      // The settings allow http on loopback alone.
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: async (url: string, { method, headers, body }: RequestInit) => {
        const request = { url, method: method as 'POST', headers: headers as Record<string, string> };
        const answer = await http.send({
          destination: 'fixed',
          ...request,
          body: String(body),
          timeoutMs,
          answerBytesMax,
          ...(signal !== undefined && { signal }),
        });
        return responseOf(answer, exchange);
      },
    };
  }

  async function result(
    exchange: CodeExchange,
    response: Promise<oauth.TokenEndpointResponse>,
  ): Promise<GrantResult> {
    try {
      return { granted: grantedOf(await response, exchange, accountIdClaim) };
    } catch (error) {
      if (error instanceof GrantError) return { failure: error.failure, retryAfterMs: error.retryAfterMs };
      return { failure: failureOf(error, exchange) };
    }
  }

  return {
    redirectUri,
    authorizationUrl({ state, verifier }) {
      const url = new URL(authorizeUrl);
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      for (const [name, value] of Object.entries({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes,
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })) {
        url.searchParams.set(name, value);
      }
      return url.href;
    },
    exchange({ code, state, verifier }) {
      const exchange: CodeExchange = {};
      const exchanged = async () => {
        const parameters = oauth.validateAuthResponse(
          server,
          client,
          new URLSearchParams({ code, state }),
          state,
        );
        const response = await oauth.authorizationCodeGrantRequest(
          ...([server, client, oauth.None(), parameters, redirectUri, verifier] as const),
          optionsFor(exchange),
        );
        return oauth.processAuthorizationCodeResponse(server, client, response);
      };
      return result(exchange, exchanged());
    },
    refresh(refreshToken, signal) {
      const exchange: CodeExchange = {};
      const refreshed = async () => {
        const response = await oauth.refreshTokenGrantRequest(
          ...([server, client, oauth.None(), refreshToken] as const),
          optionsFor(exchange, signal),
        );
        return oauth.processRefreshTokenResponse(server, client, response);
      };
      return result(exchange, refreshed());
    },
  };
}

export function pairingTools(
  config: ConfiguredPairing,
  secrets: PairingSecrets,
  http: OutboundHttp,
): PairingTools {
  const [key, setup] = [pairingKeyOf(secrets), pairingOf(config, secrets)];
  return {
    seal: key && createPairingSeal(key),
    provider: setup && createPairingProvider(setup, http),
  };
}

/** Counts the results of refreshes at the provider. */
export function countedPairing({ seal, provider }: PairingTools, registry: Registry): PairingTools {
  const refreshes = meterOf(registry).counter(
    'scriptorium_pairing_refreshes_total',
    'Refreshes of access tokens of paired subscriptions that this process has asked the provider for, by outcome. `granted` is a success; `network`, `rate-limited` and `provider-unavailable` pass. After `invalid-grant`, `invalid-token` and `credential-rejected` the subscription has to be paired again',
    ['outcome'],
  );
  if (provider === undefined) return { seal, provider };
  return {
    seal,
    provider: {
      ...provider,
      async refresh(refreshToken, signal) {
        const result = await provider.refresh(refreshToken, signal);
        refreshes.inc({ outcome: 'granted' in result ? 'granted' : result.failure });
        return result;
      },
    },
  };
}

/** @throws GrantError for failures that the status alone decides */
function responseOf({ status, headers, body }: OutboundAnswer, exchange: CodeExchange): Response {
  exchange.status = status;
  if (status === 429) throw new GrantError('rate-limited', retryAfterMs(headers.get('retry-after')));
  if (status !== 200 && (status < 400 || status >= 500)) throw new GrantError('provider-unavailable');
  const contentType = headers.get('content-type') ?? '';
  const response = (text: string) => new Response(text, { status, headers: { 'content-type': contentType } });
  if (status !== 200) return response(body.toString());
  // The library parses any JSON, but JSON of another content type is no answer of a token endpoint.
  if (!/^application\/json *(;|$)/i.test(contentType)) throw new GrantError('provider-unavailable');
  const { id_token: idToken, ...rest } = objectIn(body);
  exchange.idToken = idToken;
  return response(JSON.stringify(rest));
}

/** @throws GrantError */
function objectIn(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    if (typeof parsed === 'object' && parsed !== null) return parsed as Readonly<Record<string, unknown>>;
  } catch {
    // Otherwise the library would read it as something else.
  }
  throw new GrantError('provider-unavailable');
}

/** Reads a `Retry-After` in seconds. Providers send no dates. */
function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}

/** @throws GrantError */
function grantedOf(
  answer: oauth.TokenEndpointResponse,
  { idToken }: CodeExchange,
  accountIdClaim: string | undefined,
): ProviderGrant {
  const { access_token: accessToken, refresh_token: refreshToken = null } = answer;
  if (!isHeaderToken(accessToken) || (refreshToken ?? '').length > tokenCharactersMax) {
    throw new GrantError('provider-unavailable');
  }
  const lifetimeSeconds = Math.min(answer.expires_in ?? lifetimeSecondsUsual, lifetimeSecondsMax);
  return {
    accessToken,
    refreshToken,
    lifetimeMs: lifetimeSeconds * 1_000,
    ...labelsOf(idToken, accessToken, accountIdClaim),
  };
}

/** The token is sent in a header, so it may contain only these characters. */
const isHeaderToken = (token: string): boolean =>
  token.length <= tokenCharactersMax && /^[\x21-\x7e]+$/.test(token);

function failureOf(error: unknown, { status }: CodeExchange): GrantFailure {
  if (error instanceof OutboundError) return 'network';
  const { error: code } = error as { readonly error?: unknown };
  if (code === 'invalid_grant') return 'invalid-grant';
  if (code === 'invalid_token') return 'invalid-token';
  if (status === 401 || status === 403 || isRefusedClient(code)) return 'credential-rejected';
  return 'provider-unavailable';
}

const isRefusedClient = (code: unknown): boolean =>
  code === 'invalid_client' || code === 'unauthorized_client' || code === 'access_denied';

// --- names for people ----------------------------------------------------------------------------------------

// They are read out of tokens that are not verified, because the provider that made them has just made the grant.

const labelCharactersMax = 256;

interface Labels {
  readonly accountLabel: string | null;
  readonly accountId: string | null;
}

function labelsOf(idToken: unknown, accessToken: unknown, accountIdClaim: string | undefined): Labels {
  const [ofId, ofAccess] = [claimsOf(idToken), claimsOf(accessToken)];
  const found = (claim: string | undefined): string | null =>
    claim === undefined ? null : (displayText(claimIn(ofId, claim)) ?? displayText(claimIn(ofAccess, claim)));
  return {
    accountLabel: displayText(ofId['email']) ?? displayText(ofId['name']),
    accountId: found(accountIdClaim),
  };
}

type Claims = Readonly<Record<string, unknown>>;

function claimsOf(token: unknown): Claims {
  if (typeof token !== 'string') return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : {};
  } catch {
    return {};
  }
}

/** The name of a claim may be an address, whose dots belong to it. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Claims)[step];
  }
  return found;
}

function displayText(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return null;
  // This also removes characters that cannot be stored, such as halves of surrogate pairs.
  const plain = [...text.replaceAll(/\p{C}/gu, '').trim()].slice(0, labelCharactersMax).join('');
  return plain === '' ? null : plain;
}
