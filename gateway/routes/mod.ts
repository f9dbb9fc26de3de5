/** Every route of the HTTP interface. A family of endpoints adds its list here. */
import { z } from 'zod';
import type { SigninKeys } from '../../actors/identity/signin-keys.ts';
import { openApiDocument } from '../http/openapi.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { type AccountRouteOptions, accountRoutes } from './accounts.ts';
import { adminRoutes } from './admin.ts';
import { appPasswordRoutes } from './app-passwords.ts';
import { auditTrailRoutes } from './audit-trail.ts';
import { type AuthenticatorRouteOptions, authenticatorRoutes } from './authenticators.ts';
import { type BridgeTokenRouteOptions, bridgeTokenRoutes } from './bridge-tokens.ts';
import { type ConformanceRouteOptions, conformanceRoutes } from './conformance.ts';
import { deadManSwitchRoutes } from './dead-man-switches.ts';
import { emailDeliveryRoutes } from './email-delivery.ts';
import { emailReminderRoutes } from './email-reminders.ts';
import { type EmailedCodeRouteOptions, emailedCodeRoutes } from './emailed-codes.ts';
import { type HealthRouteOptions, healthRoutes } from './health.ts';
import { itemRoutes } from './items.ts';
import { type PublicShareRouteOptions, publicShareRoutes } from './public-shares.ts';
import { type RecoveryRouteOptions, recoveryRoutes } from './recovery.ts';
import { requestRoutes } from './requests.ts';
import { revisionRoutes } from './revisions.ts';
import { type SessionRouteOptions, sessionRoutes } from './sessions.ts';
import { settingRoutes } from './settings.ts';
import { type SignInRouteOptions, signInRoutes } from './sign-in.ts';
import { type SocketRouteOptions, socketRoutes } from './sockets.ts';
import { type SubscriptionRouteOptions, subscriptionRoutes } from './subscriptions.ts';

export interface RoutesOptions
  extends HealthRouteOptions,
    AccountRouteOptions,
    SessionRouteOptions,
    SignInRouteOptions,
    AuthenticatorRouteOptions,
    BridgeTokenRouteOptions,
    EmailedCodeRouteOptions,
    RecoveryRouteOptions,
    SubscriptionRouteOptions,
    PublicShareRouteOptions,
    ConformanceRouteOptions,
    SocketRouteOptions {
  readonly signinKeys: Pick<SigninKeys, 'actorId' | 'recoveryId' | 'tokenMailId' | 'readApprovalId'>;
  readonly settings: AccountRouteOptions['settings'] &
    SignInRouteOptions['settings'] &
    ConformanceRouteOptions['settings'];
  /** The server's own version, for the description. */
  readonly version: string;
}

export function allRoutes(options: RoutesOptions): readonly AnyRoute[] {
  const routes: AnyRoute[] = [
    ...healthRoutes(options),
    ...signInRoutes(options),
    ...sessionRoutes(options),
    ...accountRoutes(options),
    ...settingRoutes,
    ...subscriptionRoutes(options),
    ...requestRoutes,
    ...conformanceRoutes(options),
    ...recoveryRoutes(options),
    ...appPasswordRoutes,
    ...authenticatorRoutes(options),
    ...emailedCodeRoutes(options),
    ...bridgeTokenRoutes(options),
    ...auditTrailRoutes,
    ...adminRoutes,
    ...itemRoutes,
    ...revisionRoutes,
    ...emailDeliveryRoutes,
    ...publicShareRoutes(options),
    ...deadManSwitchRoutes,
    ...emailReminderRoutes,
    ...socketRoutes(options),
    descriptionRoute(() => openApiDocument(routes, options.version)),
  ];
  return routes;
}

/** Generated when first asked for, and once. */
function descriptionRoute(describe: () => unknown): AnyRoute {
  let json: string | undefined;
  return route({
    method: 'GET',
    path: '/v1/openapi.json',
    safe: true,
    access: 'public',
    summary: 'This description.',
    tag: 'Health and metadata',
    enveloped: false,
    request: z.object({}),
    replies: { 200: z.looseObject({}) },
    handle: async () => {
      json ??= JSON.stringify(describe());
      return { status: 200, json };
    },
  });
}
