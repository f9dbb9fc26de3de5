/** Settings of pairing: the provider's authorization server, and the key that seals the credentials. */
import {
  type SettingsOf,
  sameOnAllNodes,
  secret,
  section,
  setting,
  text,
  WrongValue,
} from '../../runtime/setting.ts';
import { isThisMachine } from '../outbound/public-address.ts';

const title = 'Assistant subscription';
const callbackPath = '/v1/assistant/subscription/callback';

/** The redirect address exactly as it was registered with the provider. */
function secureAddress(text: string): string {
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(text) || !URL.canParse(text)) {
    throw new WrongValue('is not an https address');
  }
  const { protocol, hostname } = new URL(text);
  if (/^https?:\/\/[^/]*@/i.test(text) || /[?#]/.test(text)) {
    throw new WrongValue('has a user, a query or a fragment');
  }
  if (protocol === 'http:' && !isThisMachine(hostname)) {
    throw new WrongValue('is neither https nor on loopback');
  }
  return text;
}
const bounds = 'an https address, or http on loopback, without a user, a query or a fragment';

export const pairingSettings = sameOnAllNodes(
  section(title, {
    authorizeUrl: setting(secureAddress, {
      name: 'ASSISTANT_PROVIDER_OAUTH_AUTHORIZE_URL',
      bounds,
      description: 'Where an administrator signs in at the provider and agrees to the pairing.',
    }),
    tokenUrl: setting(secureAddress, {
      name: 'ASSISTANT_PROVIDER_OAUTH_TOKEN_URL',
      bounds,
      description: 'Where this server gets and refreshes tokens. No redirect is followed.',
    }),
    clientId: text({
      name: 'ASSISTANT_PROVIDER_OAUTH_CLIENT_ID',
      pattern: /^[\x21-\x7e]{1,512}$/,
      form: 'a client id',
      description: 'What this server is registered as at the provider: a public client with PKCE (S256).',
    }),
    scopes: text({
      name: 'ASSISTANT_PROVIDER_OAUTH_SCOPES',
      // The characters of RFC 6749, 3.3.
      pattern: /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
      form: 'scopes, separated by spaces',
      default: 'openid offline_access',
      description: 'What is asked for. Without a refresh token a pairing ends with its first access token.',
    }),
    redirectUri: setting(secureAddress, {
      name: 'ASSISTANT_PROVIDER_OAUTH_REDIRECT_URI',
      bounds,
      defaultText: `\`PUBLIC_URL\` with \`${callbackPath}\``,
      description:
        'Where the provider sends the browser back, exactly as registered there. Any other place than the default means that administrators complete pairings by hand.',
    }),
    accountIdClaim: text({
      name: 'ASSISTANT_PROVIDER_OAUTH_ACCOUNT_ID_CLAIM',
      pattern: /^[\x21-\x7e]{1,256}$/,
      form: 'the name of a claim',
      description:
        'The claim with the id of the account, in the ID token or else the access token: a name, or names separated by dots. Shown to administrators.',
    }),
    baseUrl: setting((text) => secureAddress(text).replace(/\/+$/, ''), {
      name: 'ASSISTANT_SUBSCRIPTION_BASE_URL',
      bounds,
      description:
        'Where profiles of the provider `subscription` are answered, with the access token of their pairing. This is a server that speaks like OpenAI, with its `/v1` where it has one.',
    }),
    tokenPath: text({
      name: 'ASSISTANT_SUBSCRIPTION_TOKEN_PATH',
      default: '',
      description: 'Does nothing: pairings are in the database.',
    }),
  }),
);
interface PairingSettings extends SettingsOf<typeof pairingSettings> {}

export const pairingSecrets = secret(
  sameOnAllNodes(
    section(title, {
      pairingKey: text({
        name: 'ASSISTANT_SUBSCRIPTION_ENCRYPTION_KEY',
        pattern: /^[0-9a-fA-F]{64}$/,
        form: '32 bytes as 64 hexadecimal characters',
        description:
          'The key under which pairings are stored. Without it there are none; with another one they cannot be read, and must be made anew.',
      }),
    }),
  ),
);
export interface PairingSecrets extends SettingsOf<typeof pairingSecrets> {}

/** Everything that pairing needs. */
export interface PairingSetup {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly scopes: string;
  readonly redirectUri: string;
  readonly accountIdClaim: string | undefined;
  /** Absent if no user is answered by a pairing. */
  readonly baseUrl: string | undefined;
}

export interface ConfiguredPairing {
  readonly pairing: PairingSettings;
  readonly publicUrl: string | undefined;
}

/** With the key alone, stored records can be read, whatever else is absent. */
export const pairingKeyOf = ({ pairingKey }: PairingSecrets): Buffer | undefined =>
  pairingKey === undefined ? undefined : Buffer.from(pairingKey, 'hex');

/** Undefined if something is absent. */
export function pairingOf(
  { pairing, publicUrl }: ConfiguredPairing,
  { pairingKey: key }: PairingSecrets,
): PairingSetup | undefined {
  const { authorizeUrl, tokenUrl, clientId, scopes, accountIdClaim, baseUrl } = pairing;
  const redirectUri = redirectUriOf(pairing, publicUrl);
  if (key === undefined || authorizeUrl === undefined || tokenUrl === undefined) return undefined;
  if (clientId === undefined || redirectUri === undefined) return undefined;
  return { authorizeUrl, tokenUrl, clientId, scopes, redirectUri, accountIdClaim, baseUrl };
}

/** Undefined without a public address, or with one that is not safe enough to receive a code. */
function redirectUriOf({ redirectUri }: PairingSettings, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined;
  if (redirectUri !== undefined) return redirectUri;
  try {
    return secureAddress(publicUrl + callbackPath);
  } catch {
    return undefined;
  }
}

export function pairingWarnings(
  { pairing, publicUrl }: ConfiguredPairing,
  { pairingKey }: PairingSecrets,
): string[] {
  const needed = {
    ASSISTANT_SUBSCRIPTION_ENCRYPTION_KEY: pairingKey,
    ASSISTANT_PROVIDER_OAUTH_AUTHORIZE_URL: pairing.authorizeUrl,
    ASSISTANT_PROVIDER_OAUTH_TOKEN_URL: pairing.tokenUrl,
    ASSISTANT_PROVIDER_OAUTH_CLIENT_ID: pairing.clientId,
  };
  const absent = Object.entries(needed).filter(([, value]) => value === undefined);
  const isConfigured = absent.length < Object.keys(needed).length;
  return [
    ...(isConfigured && absent.length > 0
      ? [`Without ${absent.map(([name]) => name).join(' and ')} no subscription can be paired.`]
      : []),
    ...(isConfigured && redirectUriOf(pairing, publicUrl) === undefined
      ? [
          'Without a PUBLIC_URL of https no subscription can be paired: the provider sends browsers back to it.',
        ]
      : []),
    ...(pairing.tokenPath === ''
      ? []
      : ['ASSISTANT_SUBSCRIPTION_TOKEN_PATH does nothing: pairings are in the database.']),
  ];
}
