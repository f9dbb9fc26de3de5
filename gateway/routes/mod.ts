/** Every route of the HTTP interface. A family of endpoints adds its list here. */
import { z } from 'zod';
import { openApiDocument } from '../http/openapi.ts';
import type { AnyRoute } from '../http/route.ts';
import { asyncApiDocument } from '../sockets/description.ts';
import { accountRoutes, auditTrailRoutes } from './accounts.ts';
import { adminRoutes } from './admin.ts';
import { assistantRoutes } from './assistant.ts';
import { bridgeTokenRoutes } from './bridge-tokens.ts';
import { calendarRoutes } from './calendar.ts';
import { codeHostRoutes } from './code-host.ts';
import { conformanceRoutes } from './conformance.ts';
import { davRoutes } from './dav.ts';
import { emailDeliveryRoutes } from './email-delivery.ts';
import { factorRoutes } from './factors.ts';
import { fileRoutes } from './files.ts';
import { administrationPageRoute, frontPageRoute, healthRoutes, metadata } from './health.ts';
import { itemRoutes, revisionRoutes } from './items.ts';
import { messageRoutes } from './messages.ts';
import { notOfferedRoutes } from './not-offered.ts';
import type { RoutesOptions } from './options.ts';
import { pairingRoutes } from './pairing.ts';
import { publicShareRoutes } from './public-shares.ts';
import { recoveryRoutes } from './recovery.ts';
import { reminderRoutes } from './reminders.ts';
import { requestRoutes } from './requests.ts';
import { sessionRoutes } from './sessions.ts';
import { settingRoutes } from './settings.ts';
import { sharedVaultRoutes } from './shared-vaults.ts';
import { signInRoutes } from './sign-in.ts';
import { socketRoutes } from './sockets.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { unsubscribeRoutes } from './unsubscribe.ts';

export function allRoutes(options: RoutesOptions): readonly AnyRoute[] {
  const routes: AnyRoute[] = [
    ...healthRoutes(options),
    frontPageRoute,
    ...(options.administrationPage ? [administrationPageRoute] : []),
    ...signInRoutes(options),
    ...sessionRoutes(options),
    ...accountRoutes(options),
    ...settingRoutes,
    ...subscriptionRoutes(options),
    ...requestRoutes,
    ...conformanceRoutes(options),
    ...recoveryRoutes(options),
    ...factorRoutes(options),
    ...bridgeTokenRoutes(options),
    ...auditTrailRoutes,
    ...adminRoutes,
    ...itemRoutes,
    ...revisionRoutes,
    ...messageRoutes,
    ...fileRoutes(options),
    ...emailDeliveryRoutes,
    ...unsubscribeRoutes(options),
    ...publicShareRoutes(options),
    ...sharedVaultRoutes,
    ...reminderRoutes,
    ...calendarRoutes(options),
    ...davRoutes(options),
    ...assistantRoutes(options),
    ...pairingRoutes(options),
    ...codeHostRoutes(options),
    ...socketRoutes(options),
    ...notOfferedRoutes,
    descriptionRoute('/v1/openapi.json', 'This description.', () => openApiDocument(routes, options.version)),
    descriptionRoute('/v1/asyncapi.json', 'The description of the sockets.', () =>
      asyncApiDocument(options.version),
    ),
  ];
  return routes;
}

/** Generated once, on the first request. */
function descriptionRoute(path: string, summary: string, describe: () => Promise<object>): AnyRoute {
  let json: Promise<string> | undefined;
  return metadata.route(`GET ${path}`, {
    safe: true,
    access: 'public',
    summary,
    request: z.object({}),
    replies: { 200: z.looseObject({}) },
    handle: async () => {
      json ??= describe().then(JSON.stringify);
      return { status: 200, json: await json };
    },
  });
}
