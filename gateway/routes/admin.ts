/** The actions of administrators in a client (docs/protocol/account.md, "Administration"). */
import { Administration } from '../../actors/user/admin/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { family } from './endpoint.ts';

const { endpoint } = family({ tag: 'Admin' });

export const adminRoutes: readonly AnyRoute[] = [
  endpoint('GET /v1/admin/lookup-user/:email', {
    command: Administration.commands.lookUpUser,
    summary: 'The uuid of the user with an address.',
    refusals: [403, 404],
  }),
  endpoint('GET /v1/admin/users/:email/ban-status', {
    command: Administration.commands.getBan,
    summary: 'Whether the user with an address is banned.',
    refusals: [403, 404],
  }),
  endpoint('PUT /v1/admin/users/:userUuid/ban-status', {
    command: Administration.commands.setBan,
    summary: 'Bans a user, which ends all sessions at once, or ends the ban.',
    refusals: [400, 404, 409],
  }),
  endpoint('GET /v1/admin/users/:userUuid/feature-flags', {
    command: Administration.commands.getFlags,
    summary: 'What administrators have set for a user.',
    refusals: [403, 404],
  }),
  endpoint('PUT /v1/admin/users/:userUuid/feature-flags', {
    command: Administration.commands.setFlag,
    summary: 'Sets one of the flags of a user.',
    refusals: [400, 404],
  }),
  endpoint('GET /v1/admin/registration', {
    command: Administration.commands.getRegistration,
    summary: 'Whether anybody may register.',
    refusals: [403],
  }),
  endpoint('PUT /v1/admin/registration', {
    command: Administration.commands.setRegistration,
    summary: 'Closes the registration, or opens it.',
    refusals: [400],
  }),
];
