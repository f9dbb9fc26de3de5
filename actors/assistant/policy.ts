/** The policy that follows from the operator's settings of the assistant: the providers, and which of them answers which user. */
import { dependency } from '../../runtime/dependency.ts';
import {
  type AssistantProfile,
  type Profiles,
  type ProviderId,
  providerIds,
  providerNamed,
} from './profiles.ts';
import type { AssistantSecrets, AssistantSettings } from './settings.ts';

/** The address of a provider. */
export interface ProviderAccess {
  readonly baseUrl: string;
  readonly key: string | undefined;
}
export type ConfiguredProviders = ReadonlyMap<ProviderId, ProviderAccess>;

export const openAiUrl = 'https://api.openai.com/v1';

/** The providers that the operator has configured, in the order in which clients show them. */
export function configuredProviders(
  settings: AssistantSettings,
  { assistantAnthropicKey, assistantOpenAiKey }: AssistantSecrets,
  subscriptionUrl?: string,
): ConfiguredProviders {
  const { anthropicBaseUrl, openAiBaseUrl, ollamaUrl } = settings;
  const hasOpenAi = assistantOpenAiKey !== undefined || openAiBaseUrl !== undefined;
  const access: Record<ProviderId, ProviderAccess | undefined> = {
    anthropic: assistantAnthropicKey && { baseUrl: anthropicBaseUrl, key: assistantAnthropicKey },
    openai: hasOpenAi ? { baseUrl: openAiBaseUrl ?? openAiUrl, key: assistantOpenAiKey } : undefined,
    ollama: ollamaUrl === undefined ? undefined : { baseUrl: ollamaUrl, key: undefined },
    // This provider has no fixed key: each request asks for the access token of the pairing.
    subscription: subscriptionUrl === undefined ? undefined : { baseUrl: subscriptionUrl, key: undefined },
  } as Record<ProviderId, ProviderAccess | undefined>;
  return new Map(
    providerIds.flatMap((id) => {
      const configured = access[id];
      return configured === undefined ? [] : [[id, configured] as const];
    }),
  );
}

/** The part of the policy that the actor of a user needs. */
export interface AssistantPolicy {
  /** 0 means no limit. */
  readonly dailyRequestsMax: number;
  readonly streamsPerUserMax: number;
  readonly profiles: ReadonlyMap<string, AssistantProfile>;
  readonly roles: Profiles['roles'];
  readonly default: AssistantProfile | undefined;
}
export const AssistantPolicy = dependency<AssistantPolicy>('the policy of the assistant');

/** The policy of a server without a provider. */
export const noAssistant: AssistantPolicy = {
  dailyRequestsMax: 0,
  streamsPerUserMax: 4,
  profiles: new Map(),
  roles: new Map(),
  default: undefined,
};

export function assistantPolicy(settings: AssistantSettings, secrets: AssistantSecrets): AssistantPolicy {
  const providers = configuredProviders(settings, secrets);
  const { dailyRequestsMax, streamsPerUserMax, profiles: configured } = settings;
  const profiles = new Map((configured?.profiles ?? []).map((profile) => [profile.id, profile]));
  const byDefault =
    configured?.default === undefined
      ? defaultProfile(settings, [...providers.keys()])
      : profiles.get(configured.default);
  return {
    dailyRequestsMax,
    streamsPerUserMax,
    profiles,
    default: byDefault,
    roles: configured?.roles ?? new Map(),
  };
}

/** Undefined if users without a profile get no answer. */
function defaultProfile(
  settings: AssistantSettings,
  configured: readonly ProviderId[],
): AssistantProfile | undefined {
  const chosen = settings.defaultProvider && providerNamed(settings.defaultProvider);
  const provider = configured.find((id) => id === chosen) ?? configured[0];
  const model = (provider === 'openai' ? settings.openAiModel : undefined) ?? settings.defaultModel;
  return provider === undefined || model === undefined ? undefined : { id: '', provider, model };
}

/** Undefined if no profile is assigned, or if the assigned one does not exist. */
export function profileFor(
  { profiles, roles, default: byDefault }: AssistantPolicy,
  assigned: string | null,
  roleNames: readonly string[],
): AssistantProfile | undefined {
  if (assigned !== null) return profiles.get(assigned);
  const role = roleNames.toSorted().find((name) => roles.has(name));
  return role === undefined ? byDefault : profiles.get(roles.get(role) ?? '');
}

/** What is wrong with the settings. Any of it keeps the server from starting. */
export function assistantProblems(
  settings: AssistantSettings,
  secrets: AssistantSecrets,
  subscriptionUrl?: string,
): readonly string[] {
  const providers = configuredProviders(settings, secrets, subscriptionUrl);
  const unknown = (settings.profiles?.profiles ?? []).filter(({ provider }) => !providers.has(provider));
  return unknown.map(
    ({ id, provider }) =>
      `ASSISTANT_PROFILES has a profile "${id}" of ${provider}, which is not set up: it has no key or address.`,
  );
}

export function assistantWarnings(settings: AssistantSettings, secrets: AssistantSecrets): readonly string[] {
  const providers = configuredProviders(settings, secrets);
  const { defaultProvider } = settings;
  if (providers.size === 0) return [];
  const isDefaultUnavailable =
    defaultProvider !== undefined && !providers.has(providerNamed(defaultProvider) ?? 'ollama');
  return [
    ...(isDefaultUnavailable
      ? ['ASSISTANT_DEFAULT_PROVIDER is not set up: it has no key or address. Another one answers.']
      : []),
    ...(assistantPolicy(settings, secrets).default === undefined
      ? ['Without ASSISTANT_DEFAULT_MODEL the assistant answers only those who have a profile.']
      : []),
  ];
}
