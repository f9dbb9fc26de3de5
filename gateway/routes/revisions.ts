/** The history of items (docs/protocol/sync.md, "Revisions"). */
import { z } from 'zod';
import { Revisions } from '../../actors/user/revisions/contract.ts';
import type { AnyRoute, Method } from '../http/route.ts';
import { family, refusedAnswer } from './endpoint.ts';

const { endpoint, route } = family({ tag: 'Revisions' });

const retired = { status: 410, message: 'Please update your application to see the history of notes.' };

/**
 * Old clients look here for the history of an item. The answer tells them to update, so that they do not find an
 * empty history.
 */
const retiredRevisions = (method: Method, path: string): AnyRoute =>
  route({
    method,
    path,
    access: 'public',
    summary: 'Retired; tells old clients to update.',
    request: z.object({}),
    refusals: [410],
    handle: async () => refusedAnswer(retired),
  });

export const revisionRoutes: readonly AnyRoute[] = [
  retiredRevisions('GET', '/v1/items/:uuid/revisions'),
  retiredRevisions('GET', '/v1/items/:uuid/revisions/:id'),
  retiredRevisions('DELETE', '/v1/items/:uuid/revisions/:id'),
  endpoint({
    method: 'GET',
    path: '/v2/items/:itemUuid/revisions',
    command: Revisions.commands.listRevisions,
    summary: 'The revisions of an item, the newest first, without their content.',
    refusals: [400],
  }),
  endpoint({
    method: 'GET',
    path: '/v2/items/:itemUuid/revisions/:id',
    command: Revisions.commands.getRevision,
    summary: 'One revision of an item.',
    refusals: [400, 404],
  }),
  endpoint({
    method: 'DELETE',
    path: '/v2/items/:itemUuid/revisions/:id',
    command: Revisions.commands.deleteRevision,
    summary: 'Deletes one revision of an item.',
    refusals: [400],
  }),
];
