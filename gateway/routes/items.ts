/** Item sync, integrity and single items (docs/protocol/sync.md). */
import { User } from '../../actors/user/contract.ts';
import { endpoint } from './endpoint.ts';

const tag = 'Sync and items';

export const itemRoutes = [
  endpoint({
    method: 'POST',
    path: '/v1/items',
    command: User.commands.sync,
    summary: 'Saves items and gives those that changed since the token.',
    tag,
    bodyLimit: 'large',
    refusals: [400, 413],
    adds: { snjs_version: ({ snjsVersion }) => snjsVersion },
  }),
  endpoint({
    method: 'POST',
    path: '/v1/items/check-integrity',
    command: User.commands.checkIntegrity,
    summary: 'Tells which of the user’s items differ from what the client has.',
    tag,
    bodyLimit: 'large',
    refusals: [400],
  }),
  endpoint({
    method: 'GET',
    path: '/v1/items/:uuid',
    command: User.commands.getItem,
    summary: 'Gives one item of the user, also when it is deleted.',
    tag,
    refusals: [404],
  }),
];
