/** Security keys (docs/protocol/account.md, "Security keys"). */
import { User } from '../../actors/user/contract.ts';
import { endpoint } from './endpoint.ts';

const tag = 'Two-factor';

export const authenticatorRoutes = [
  endpoint({
    method: 'GET',
    path: '/v1/authenticators',
    command: User.commands.listAuthenticators,
    summary: 'The security keys of the account.',
    tag,
  }),
  endpoint({
    method: 'GET',
    path: '/v1/authenticators/generate-registration-options',
    command: User.commands.offerAuthenticator,
    summary: 'What a browser needs to make a new security key.',
    tag,
    refusals: [400],
  }),
  endpoint({
    method: 'POST',
    path: '/v1/authenticators/verify-registration',
    command: User.commands.addAuthenticator,
    summary: 'Adds the security key that a browser has made.',
    tag,
    refusals: [400],
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/authenticators/:authenticatorUuid',
    command: User.commands.removeAuthenticator,
    summary: 'Removes a security key.',
    tag,
    refusals: [404],
  }),
];
