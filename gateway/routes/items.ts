/** Item sync, integrity and single items (docs/protocol/sync.md). */

import { z } from 'zod';
import { User } from '../../actors/user/contract.ts';
import { type AnyRoute, type Method, route } from '../http/route.ts';
import { errorBodySchema, refusedAnswer } from './answer.ts';
import { endpoint } from './endpoint.ts';

const tag = 'Sync and items';

const retired = { status: 410, message: 'Please update your application to see the history of notes.' };

/** Where old clients look for the history of an item: they are told to update instead of finding nothing. */
const retiredRevisions = (method: Method, path: string): AnyRoute =>
  route({
    method,
    path,
    access: 'public',
    summary: 'Retired; tells old clients to update.',
    tag: 'Revisions',
    request: z.object({}),
    replies: { 410: errorBodySchema },
    bodyLimit: 'small',
    handle: async () => refusedAnswer(retired),
  });

export const itemRoutes = [
  retiredRevisions('GET', '/v1/items/:uuid/revisions'),
  retiredRevisions('GET', '/v1/items/:uuid/revisions/:id'),
  retiredRevisions('DELETE', '/v1/items/:uuid/revisions/:id'),
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
