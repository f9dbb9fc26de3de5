/** Settings, subscription and features of the caller's account (docs/protocol/account.md). */
import { Factors } from '../../actors/user/factors/contract.ts';
import { settingsActedOn, settingValueBytesMax, UserSettings } from '../../actors/user/settings/contract.ts';
import { Subscription } from '../../actors/user/subscription/contract.ts';
import type { RequestContext } from '../http/route.ts';
import { family } from './endpoint.ts';

const { endpoint } = family({ tag: 'Users' });
const recovery = family({ tag: 'Account recovery' });
const password = (context: RequestContext<'session'>) => context.header('x-server-password');
const headers = ['x-server-password'];
/** The largest value, which is JSON within JSON: every quotation mark in it takes two bytes. */
const settingBytesMax = 2 * settingValueBytesMax + 4_096;

export const settingRoutes = [
  endpoint('GET /v1/users/:userUuid/settings', {
    command: UserSettings.commands.listSettings,
    summary: 'The settings of the account that are not secret.',
  }),
  endpoint('PUT /v1/users/:userUuid/settings', {
    command: UserSettings.commands.putSetting,
    bodyLimit: settingBytesMax,
    summary: `Sets a setting. The server acts on ${settingsActedOn.join(', ')}; it only keeps the others.`,
    refusals: [400],
  }),
  endpoint('GET /v1/users/:userUuid/settings/:name', {
    command: UserSettings.commands.getSetting,
    summary: 'One setting; for a secret only that it is set.',
    // A wrong password for the recovery codes counts as a failure.
    changesSomething: true,
    refusals: [400, 423],
    headers,
    adds: { password },
  }),
  endpoint('DELETE /v1/users/:userUuid/settings/:name', {
    command: UserSettings.commands.deleteSetting,
    summary: 'Removes a setting; the secret of an authenticator app needs the header x-server-password.',
    refusals: [400, 423],
    headers,
    adds: { password },
  }),
  endpoint('GET /v1/users/:userUuid/subscription-settings/:name', {
    command: UserSettings.commands.getSubscriptionSetting,
    summary: 'One setting of the subscription.',
    refusals: [400],
  }),
  endpoint('PUT /v1/users/:userUuid/subscription-settings', {
    command: UserSettings.commands.putSubscriptionSetting,
    summary: 'Sets a setting of the subscription.',
    refusals: [400],
  }),
  endpoint('GET /v1/users/:userUuid/features', {
    command: Subscription.commands.getFeatures,
    summary: 'What the account may use: everything.',
  }),
  endpoint('GET /v1/users/:userUuid/subscription', {
    command: Subscription.commands.getSubscription,
    summary: 'The subscription that every account has.',
  }),
  endpoint('GET /v1/users/:userUuid/mfa-secret', {
    command: Factors.commands.offerTotpSecret,
    summary: 'A secret for an authenticator app, the same one for five minutes.',
    refusals: [400],
  }),
  recovery.endpoint('POST /v1/recovery/codes', {
    command: Factors.commands.makeRecoveryCodes,
    summary: 'New recovery codes, which replace the old ones; needs the header x-server-password.',
    refusals: [400, 423],
    headers,
    adds: { password },
  }),
];
