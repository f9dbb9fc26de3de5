/**
 * The endpoint by which a conformance run gives an account a subscription (docs/protocol/account.md, "Conformance runs"). It is
 * served only if the settings allow such runs.
 */
import { z } from 'zod';
import { Signin } from '../../actors/signin/contract.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { addressOf, emailField, workspaceField } from './address-fields.ts';
import { family, refusedAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const { route } = family({ tag: 'Conformance runs' });

/** A number from here on is a time in microseconds: no time has so many milliseconds. */
const microsFrom = 1e14;

const premium = z.object({
  username: emailField.min(1),
  workspace_identifier: workspaceField,
  subscriptionId: z.int().nonnegative().nullish(),
  subscriptionPlanName: z.string().max(64).nullish(),
  uploadBytesLimit: z.int().min(-1).nullish(),
  endsAt: z.union([z.int().nonnegative(), z.iso.datetime({ offset: true })]).nullish(),
  cancelPreviousSubscription: z.boolean().nullish(),
});

const unknown = { status: 400, message: 'There is no such account.' } as const;

export function conformanceRoutes({ settings, signinKeys }: RoutesOptions): readonly AnyRoute[] {
  if (!settings.endToEndTesting) return [];

  async function activate(
    { actors, ask }: RequestContext<'public'>,
    { username, workspace_identifier, ...options }: z.infer<typeof premium>,
  ): Promise<RouteReply> {
    const address = addressOf(settings, username, workspace_identifier);
    const { activated } = await actors.get(Signin, signinKeys.actorId(address)).ask.activatePremium(
      {
        ...address,
        premium: {
          subscriptionId: options.subscriptionId ?? 1,
          planName: options.subscriptionPlanName ?? 'PRO_PLAN',
          endsAtMicros: options.endsAt == null ? undefined : microsOf(options.endsAt),
          uploadBytesLimit: options.uploadBytesLimit ?? -1,
          cancelPrevious: options.cancelPreviousSubscription ?? false,
        },
      },
      ask,
    );
    return activated
      ? { status: 200, body: { message: 'The subscription is active.' } }
      : refusedAnswer(unknown);
  }

  return [
    route('POST /e2e/activate-premium', {
      access: 'public',
      summary: 'Gives an account a subscription, for conformance runs.',
      request: premium,
      replies: { 200: z.object({ message: z.string() }) },
      refusals: [400],
      handle: activate,
    }),
  ];
}

function microsOf(time: number | string): number {
  if (typeof time === 'string') return Date.parse(time) * 1_000;
  return time < microsFrom ? time * 1_000 : time;
}
