/** What administrators do in a client (docs/protocol/account.md, "Administration"). */
import { User } from '../../actors/user/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { endpoint } from './endpoint.ts';

const tag = 'Admin';

export const adminRoutes: readonly AnyRoute[] = [
  endpoint({
    method: 'GET',
    path: '/v1/admin/lookup-user/:email',
    command: User.commands.lookUpUser,
    summary: 'The uuid of the user with an address.',
    tag,
    refusals: [403, 404],
  }),
  endpoint({
    method: 'GET',
    path: '/v1/admin/users/:email/ban-status',
    command: User.commands.getBan,
    summary: 'Whether the user with an address is banned.',
    tag,
    refusals: [403, 404],
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/admin/users/:userUuid/ban-status',
    command: User.commands.setBan,
    summary: 'Bans a user, which ends all sessions at once, or ends the ban.',
    tag,
    refusals: [400, 404, 409],
  }),
  endpoint({
    method: 'GET',
    path: '/v1/admin/users/:userUuid/feature-flags',
    command: User.commands.getFlags,
    summary: 'What administrators have set for a user.',
    tag,
    refusals: [403, 404],
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/admin/users/:userUuid/feature-flags',
    command: User.commands.setFlag,
    summary: 'Sets one of the flags of a user.',
    tag,
    refusals: [400, 404],
  }),
  endpoint({
    method: 'GET',
    path: '/v1/admin/registration',
    command: User.commands.getRegistration,
    summary: 'Whether anybody may register.',
    tag,
    refusals: [403],
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/admin/registration',
    command: User.commands.setRegistration,
    summary: 'Closes the registration, or opens it.',
    tag,
    refusals: [400],
  }),
];
