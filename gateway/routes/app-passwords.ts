/** App passwords and trusted devices (docs/protocol/account.md). */
import { Factors } from '../../actors/user/factors/contract.ts';
import { endpoint } from './endpoint.ts';

const appPasswords = 'App passwords';
const trustedDevices = 'Trusted devices';

export const appPasswordRoutes = [
  endpoint({
    method: 'GET',
    path: '/v1/app-passwords',
    command: Factors.commands.listAppPasswords,
    summary: 'The app passwords of the account, without the passwords.',
    tag: appPasswords,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/app-passwords',
    command: Factors.commands.makeAppPassword,
    summary: 'Makes an app password and shows it only this once.',
    tag: appPasswords,
    refusals: [400],
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/app-passwords/:appPasswordUuid',
    command: Factors.commands.deleteAppPassword,
    summary: 'Deletes an app password.',
    tag: appPasswords,
    refusals: [404],
  }),
  endpoint({
    method: 'GET',
    path: '/v1/trusted-devices',
    command: Factors.commands.listTrustedDevices,
    summary: 'The devices that need no second factor.',
    tag: trustedDevices,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/trusted-devices',
    command: Factors.commands.trustDevice,
    summary: 'Makes a token with which a device needs no second factor, and shows it only this once.',
    tag: trustedDevices,
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/trusted-devices/:trustedDeviceUuid',
    command: Factors.commands.distrustDevice,
    summary: 'Stops trusting a device.',
    tag: trustedDevices,
    refusals: [404],
  }),
];
