/**
 * The assistant (docs/protocol/assistant.md). Never in the envelope. The conversation goes between client and
 * provider, and nowhere else.
 */
import { z } from 'zod';
import { providerIds, providerNamed } from '../../actors/assistant/profiles.ts';
import { AssistantBudget } from '../../actors/user/assistant/contract.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import type { RateBucket } from '../admission/rate-limit.ts';
import type { StreamEnd } from '../assistant/assistant.ts';
import { PendingChatRequest, requestFields } from '../assistant/chat-request.ts';
import { type PairedCredentials, pairedFor } from '../assistant/paired.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { family, flat, refusedAnswer, signedInAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const path = '/v1/assistant';
const { endpoint, route } = family({ tag: 'Assistant proxy', enveloped: false });
const bodyBytesMax = 4 * 1_048_576;
const rate: RateBucket = { name: 'assistant', perMinute: 120, by: 'user' };
const providerId = z.enum(providerIds);
const eventStream = 'text/event-stream';

const notConfigured = {
  status: 400,
  tag: 'provider-not-configured',
  message: 'This provider is not set up on this server.',
};
const full = {
  status: 503,
  tag: 'assistant-unavailable',
  retryAfterMs: 10_000,
  message: 'The assistant is answering too many at the moment. Please try again.',
};

const notPaired = {
  status: 503,
  tag: 'assistant-unavailable',
  message:
    'The assistant of this account is no longer paired with its provider. Asking again does not help: an administrator has to pair it anew.',
};
const notSent: StreamEnd = { mayHaveArrived: false };

type BegunStream = z.infer<typeof AssistantBudget.commands.beginAssistantStream.ok>;

export function assistantRoutes({ assistant }: RoutesOptions): readonly AnyRoute[] {
  async function listModels(providerText: string | undefined): Promise<RouteReply> {
    const name = providerText || assistant.config.defaultProvider;
    const provider = providerNamed(name);
    const models = provider && (await assistant.models(provider));
    if (models === undefined) return refusedAnswer(notConfigured);
    return { status: 200, body: { provider, models } };
  }

  async function stream(context: RequestContext<'session'>, body: unknown): Promise<RouteReply> {
    const { actors, credentials, ask, gone, stopping } = context;
    const release = assistant.takeSlot(credentials.userUuid);
    if (release === undefined) return refusedAnswer(full);
    const user = actors.get(AssistantBudget, credentials.userUuid).ask;
    const chatRequest = new PendingChatRequest(body);
    let begun: BegunStream | undefined;
    let paired: PairedCredentials | undefined;
    let isOver = false;
    let isOpened = false;
    const onEnd = (end: StreamEnd) => {
      if (isOver) return;
      isOver = true;
      release();
      paired?.ended(end);
      if (begun === undefined) return;
      // If this fails too, the account holds its slot until its time is over.
      const ended = { streamUuid: begun.streamUuid, isRefunded: !end.mayHaveArrived };
      user.endAssistantStream(ended, { deadlineMs: endMs }).catch(() => undefined);
    };
    try {
      const begin = user.beginAssistantStream({ credentials, isValid: chatRequest.isValid }, ask);
      const reply = await signedInAnswer(begin, (ok) => {
        begun = ok;
        return { status: 200 };
      });
      if (begun === undefined) {
        onEnd(notSent);
        return flat(reply);
      }
      const { subscriptionId, sessionUuid, ...profile } = begun as BegunStream;
      if (subscriptionId !== undefined) {
        paired = await pairedFor(actors, subscriptionId, ask);
        if (paired === undefined) {
          onEnd(notSent);
          return refusedAnswer(notPaired, reply.caller);
        }
      }
      const ended = context.untilSessionEnds(sessionUuid);
      const accessToken = paired?.accessToken;
      const request = { ...profile, chatRequest, gone, stopping, ended, onEnd, accessToken };
      // A reader who left before the first piece never asks for it. After that, only the stream knows which provider
      // has received the request.
      whenAborted(gone, () => isOpened || onEnd(notSent));
      return {
        ...reply,
        contentType: eventStream,
        headers: { 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' },
        stream: {
          open: () => {
            isOpened = true;
            return assistant.answer(request);
          },
        },
      };
    } catch (error) {
      onEnd(notSent);
      throw error;
    }
  }

  return [
    route(`GET ${path}/config`, {
      safe: true,
      access: 'public',
      summary: 'The providers that are set up, and who answers by default.',
      request: z.object({}),
      replies: {
        200: z.object({
          providers: z.array(providerId),
          defaultProvider: z.union([providerId, z.literal('')]),
          defaultModel: z.string(),
        }),
      },
      handle: async () => ({ status: 200, body: assistant.config }),
    }),
    route(`GET ${path}/models`, {
      safe: true,
      access: 'session',
      rate,
      bearerSuffices: true,
      summary: 'The models of a provider; none if it does not list them.',
      request: z.object({ provider: z.string().max(64).optional() }),
      replies: { 200: z.object({ provider: providerId, models: z.array(z.string()) }) },
      refusals: [400, 401],
      handle: async ({ actors, credentials, ask }: RequestContext<'session'>, { provider }) => {
        const checked = actors.get(Sessions, credentials.userUuid).ask.validateBearer({ credentials }, ask);
        const reply = await signedInAnswer(checked, () => ({ status: 200 }));
        return reply.status === 200 ? listModels(provider) : reply;
      },
    }),
    endpoint(`GET ${path}/usage`, {
      command: AssistantBudget.commands.getAssistantUsage,
      summary: 'How often the assistant has answered today, and how often it may.',
    }),
    route(`POST ${path}/stream`, {
      access: 'session',
      rate,
      bearerSuffices: true,
      summary: 'One answer of the assistant, as it is made.',
      request: requestFields,
      replies: { 200: { mediaType: eventStream } },
      refusals: [400, 401, 403, 429, 503],
      bodyLimit: bodyBytesMax,
      deadline: 'own',
      handle: stream,
    }),
  ];
}

const endMs = 25_000;

function whenAborted(signal: AbortSignal, then: () => void): void {
  if (signal.aborted) then();
  else signal.addEventListener('abort', then, { once: true });
}
