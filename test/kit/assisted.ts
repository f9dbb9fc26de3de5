/** A server with an assistant, fakes of its providers, and a user who asks it. */
import type { ExecutionContext } from 'ava';
import { type AssistantPolicy, noAssistant } from '../../actors/assistant/policy.ts';
import type { ProviderId } from '../../actors/assistant/profiles.ts';
import type { AssistantOptions } from '../../gateway/assistant/assistant.ts';
import type { AssistantEvent } from '../../gateway/assistant/events.ts';
import type { Device } from './device.ts';
import { startModelServer } from './model-server.ts';
import { type ServerOptions, startServer } from './server.ts';

export const path = '/v1/assistant';

interface AssistedOptions extends Omit<ServerOptions, 'assistant' | 'providers'> {
  readonly policy?: Partial<AssistantPolicy>;
  readonly providers?: Partial<AssistantOptions>;
}

export interface Streamed {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly events: readonly AssistantEvent[];
}

export const profileOf = (provider: ProviderId, id = '') => ({ id, provider, model: `${provider}-model` });

export async function assisted(t: ExecutionContext, { policy, providers, ...options }: AssistedOptions = {}) {
  const model = await startModelServer(t);
  const server = await startServer(t, {
    ...options,
    accounts: { adminEmails: new Set(['admin@example.org']), ...options.accounts },
    assistant: { ...noAssistant, default: profileOf('openai'), ...policy },
    providers: { providers: model.providers, ...providers },
  });
  const phone = await server.device();
  const admin = await server.device('admin@example.org');
  const setFlag = (name: string, value: string | null, of: Device = phone) =>
    server.answered(
      admin.call('PUT', `/v1/admin/users/${of.account.userUuid}/feature-flags`, { body: { name, value } }),
    );
  const usage = async () => (await phone.call('GET', `${path}/usage`)).body;
  const ask = (body: object = {}, signal?: AbortSignal, by: Device = phone) =>
    openStream(server.url, by, body, signal);
  const stream = (body: object = {}, by: Device = phone) => streamed(ask(body, undefined, by));
  return { server, model, phone, admin, setFlag, usage, ask, stream };
}

export const openStream = (url: string, { account }: Device, body: object, signal?: AbortSignal) =>
  fetch(`${url}${path}/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.access}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello?' }], ...body }),
    ...(signal !== undefined && { signal }),
  });

export async function streamed(pending: Promise<Response>): Promise<Streamed> {
  const answer = await pending;
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, events: eventsIn(text) };
}

/** As clients read them: split at two line feeds, and nothing but `data`. */
export const eventsIn = (text: string): readonly AssistantEvent[] =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice(6)));
