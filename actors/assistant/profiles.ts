/**
 * Profiles of the assistant: the model and provider that answer a user (docs/protocol/assistant.md, "Profiles"). The user's own profile
 * comes before that of their role, and that before the default. If an assigned profile does not exist, no other one takes its place.
 */
import { WrongValue } from '../../runtime/setting.ts';
import { defaultSubscriptionId, isSubscriptionId } from '../pairing/subscription-id.ts';

/** Each has a protocol of its own. */
export const vendorIds = ['anthropic', 'openai', 'ollama'] as const;
export type VendorId = (typeof vendorIds)[number];

/** `subscription`: on the account of a pairing (docs/protocol/pairing.md), for profiles alone. */
export const providerIds = [...vendorIds, 'subscription'] as const;
export type ProviderId = (typeof providerIds)[number];

export interface AssistantProfile {
  readonly id: string;
  readonly provider: ProviderId;
  readonly model: string;
  /** For the provider `subscription` alone. */
  readonly subscriptionId?: string;
  /** Tokens that a request may ask for, at most. */
  readonly maxOutputTokens?: number;
  /** Used if a request names none. */
  readonly temperature?: number;
}

export interface Profiles {
  readonly profiles: readonly AssistantProfile[];
  /** The id of a profile by the name of a role. */
  readonly roles: ReadonlyMap<string, string>;
  /** The id of the default profile. */
  readonly default: string | undefined;
}

export const isProfileId = (text: string): boolean => /^[\w.:-]{1,64}$/.test(text);
export const isModel = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

/** `openai-compatible` is another name of `openai`. */
export const providerNamed = (name: string): ProviderId | undefined =>
  providerIds.find((id) => id === (name === 'openai-compatible' ? 'openai' : name));

/** Parses the operator's text. @throws WrongValue */
export function parseProfiles(text: string): Profiles {
  const { profiles, roles, default: byDefault, ...others } = objectIn(parsed(text), 'the whole');
  noOthers(others, 'the whole');
  if (!Array.isArray(profiles)) throw new WrongValue('has no list "profiles"');
  const list = profiles.map(profileOf);
  const ids = new Set(list.map(({ id }) => id));
  if (ids.size < list.length) throw new WrongValue('has two profiles of one id');
  const ofRoles = Object.entries(objectIn(roles ?? {}, 'roles'));
  const named = [...ofRoles.map(([, id]) => id), ...(byDefault === undefined ? [] : [byDefault])];
  if (!named.every((id) => typeof id === 'string' && ids.has(id))) {
    throw new WrongValue('names a profile that is not in its list');
  }
  return {
    profiles: list,
    roles: new Map(ofRoles as [string, string][]),
    default: byDefault as string | undefined,
  };
}

function profileOf(value: unknown): AssistantProfile {
  const {
    id,
    label,
    provider: name,
    model,
    subscriptionId,
    maxOutputTokens,
    temperature,
    ...others
  } = objectIn(value, 'a profile');
  noOthers(others, 'a profile');
  if (typeof id !== 'string' || !isProfileId(id)) throw new WrongValue('has a profile without an id');
  const provider = typeof name === 'string' ? providerNamed(name) : undefined;
  const isSound =
    (label === undefined || typeof label === 'string') &&
    isWithin(maxOutputTokens, 1, 200_000, Number.isInteger) &&
    isWithin(temperature, 0, 2);
  if (provider === undefined || typeof model !== 'string' || !isModel(model) || !isSound) {
    throw new WrongValue(`has a profile "${id}" whose provider, model or limits are not valid`);
  }
  const named = subscriptionOf(id, provider, subscriptionId);
  return {
    id,
    provider,
    model,
    ...(named !== undefined && { subscriptionId: named }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens: maxOutputTokens as number }),
    ...(temperature !== undefined && { temperature: temperature as number }),
  };
}

/** @throws WrongValue */
function subscriptionOf(id: string, provider: ProviderId, value: unknown): string | undefined {
  if (provider !== 'subscription' && value === undefined) return undefined;
  const subscriptionId = value ?? defaultSubscriptionId;
  if (provider === 'subscription' && isSubscriptionId(subscriptionId)) return subscriptionId;
  throw new WrongValue(
    `has a profile "${id}" whose subscriptionId is not valid, or whose provider has no pairings`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongValue('is not JSON');
  }
}

function objectIn(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new WrongValue(`is wrong: ${what} is not an object`);
}

function noOthers(others: object, what: string): void {
  const [name] = Object.keys(others);
  if (name !== undefined) throw new WrongValue(`is wrong: ${what} has no "${name}"`);
}

const isWithin = (value: unknown, min: number, max: number, is: (value: number) => boolean = () => true) =>
  value === undefined || (typeof value === 'number' && value >= min && value <= max && is(value));
