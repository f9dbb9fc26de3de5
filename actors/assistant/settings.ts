/** Settings of the assistant: the operator's providers, and the limits of users. */
import {
  apiAddress,
  choice,
  fixed,
  integer,
  type SettingsOf,
  sameOnAllNodes,
  secret,
  section,
  setting,
  text,
  WrongValue,
} from '../../runtime/setting.ts';
import { isModel, parseProfiles } from './profiles.ts';

/** Keys are sent in a header, so they may contain only these characters. */
const key = { pattern: /^[\x21-\x7e]{1,1024}$/, form: 'a key' };

function model(text: string): string {
  if (!isModel(text)) throw new WrongValue('is not the name of a model');
  return text;
}

export const assistantSettings = section('Assistant', {
  ...sameOnAllNodes({
    anthropicBaseUrl: apiAddress({
      name: 'ASSISTANT_ANTHROPIC_BASE_URL',
      default: 'https://api.anthropic.com',
      description: 'Where `ASSISTANT_ANTHROPIC_API_KEY` is sent: Anthropic, or a proxy that speaks like it.',
    }),
    openAiBaseUrl: apiAddress({
      name: 'ASSISTANT_OPENAI_BASE_URL',
      defaultText: '`https://api.openai.com/v1` where there is a key',
      description:
        'A server that speaks like OpenAI, with its `/v1` where it has one. With it no key is needed.',
    }),
    ollamaUrl: apiAddress({
      name: 'ASSISTANT_OLLAMA_URL',
      description: 'An Ollama, such as `http://localhost:11434`.',
    }),
    defaultProvider: choice(['anthropic', 'openai', 'openai-compatible', 'ollama'], {
      name: 'ASSISTANT_DEFAULT_PROVIDER',
      defaultText: 'the first of them that is set up',
      description: 'Who answers where no profile says otherwise.',
    }),
    defaultModel: setting(model, {
      name: 'ASSISTANT_DEFAULT_MODEL',
      bounds: 'the name of a model',
      description:
        'The model that answers where no profile says otherwise. Without one the assistant is not available.',
    }),
    openAiModel: setting(model, {
      name: 'ASSISTANT_OPENAI_MODEL',
      bounds: 'the name of a model',
      description: 'The same, for the provider `openai` alone.',
    }),
    profiles: setting(parseProfiles, {
      name: 'ASSISTANT_PROFILES',
      bounds: 'JSON',
      description:
        'Which model answers whom: `{"profiles":[{"id","provider","model","label"?,"maxOutputTokens"?,"temperature"?}],"roles":{"<role>":"<id>"},"default":"<id>"}`. The flag `AI_PROFILE` that an administrator sets for a user goes before roles, and roles before the default.',
    }),
    dailyRequestsMax: integer({
      name: 'ASSISTANT_DAILY_REQUEST_LIMIT',
      unit: 'requests',
      min: 0,
      max: 1_000_000,
      default: 0,
      description:
        'The most answers that one account may ask for in a day of UTC, unless an administrator has set `AI_REQUEST_LIMIT` for it. 0 is no limit.',
    }),
    streamsPerUserMax: fixed(4),
  }),
  streamsMax: integer({
    name: 'ASSISTANT_STREAMS_MAX',
    unit: 'streams',
    min: 1,
    max: 10_000,
    default: 500,
    description: 'Answers of the assistant that one process passes on at once. More are refused for a while.',
  }),
});
export interface AssistantSettings extends SettingsOf<typeof assistantSettings> {}

export const assistantSecrets = secret(
  sameOnAllNodes(
    section('Assistant', {
      assistantAnthropicKey: text({
        name: 'ASSISTANT_ANTHROPIC_API_KEY',
        description: 'The key of the operator at Anthropic.',
        ...key,
      }),
      assistantOpenAiKey: text({
        name: 'ASSISTANT_OPENAI_API_KEY',
        description: 'The key at OpenAI, or at the server of `ASSISTANT_OPENAI_BASE_URL`.',
        ...key,
      }),
    }),
  ),
);
export interface AssistantSecrets extends SettingsOf<typeof assistantSecrets> {}
