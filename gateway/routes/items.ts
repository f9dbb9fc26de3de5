/** Item sync, integrity, single items and their history (docs/protocol/sync.md). */

import { z } from 'zod';
import type { AnsweredCommand, IdentityInput } from '../../actors/sync-command.ts';
import { Items } from '../../actors/user/items/contract.ts';
import { Revisions } from '../../actors/user/revisions/contract.ts';
import { SyncLane } from '../../actors/user/sync-lane/contract.ts';
import type { HeaderValues } from '../http/reply-headers.ts';
import type { AnyRoute, RequestContext } from '../http/route.ts';
import { family, type RouteName, refusedAnswer } from './endpoint.ts';

const { endpoint } = family({ tag: 'Sync and items' });

const commandIdHeader = 'x-sync-command-id';
const commandDigestHeader = 'x-sync-command-digest';

const nothing = { id: null, digest: null };

/** The id of the sync, which the client sends in headers or in the body. Undefined if it sends none. */
function identityOf(
  context: RequestContext<'session'>,
  request: { command?: unknown },
): IdentityInput | undefined {
  const { command } = request;
  const id = context.header(commandIdHeader);
  const digest = context.header(commandDigestHeader);
  const isInHeaders = id !== undefined || digest !== undefined;
  if (command === undefined || command === null) {
    return isInHeaders ? { id: id ?? null, digest: digest ?? null } : undefined;
  }
  delete request.command;
  if (isInHeaders || typeof command !== 'object') return nothing;
  const named = command as { readonly id?: unknown; readonly digest?: unknown };
  return { id: textOf(named.id), digest: textOf(named.digest) };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function commandHeaders(reply: object): HeaderValues | undefined {
  const { command } = reply as { readonly command?: AnsweredCommand };
  if (command === undefined) return undefined;
  return {
    'X-Sync-Command-Status': command.status,
    'X-Sync-Command-Replayed': String(command.replayed),
  };
}

export const itemRoutes = [
  endpoint('POST /v1/items', {
    command: Items.commands.sync,
    summary: 'Saves items and gives those that changed since the token.',
    bodyLimit: 'large',
    refusals: [400, 409, 413, 429],
    headers: [commandIdHeader, commandDigestHeader],
    adds: { snjs_version: ({ snjsVersion }) => snjsVersion, identity: identityOf },
    headersOf: commandHeaders,
  }),
  endpoint('GET /v1/items/sync-command/:commandId', {
    command: SyncLane.commands.getSyncCommand,
    changesSomething: true,
    summary: 'What has become of a sync that its client has named.',
    headers: [commandDigestHeader],
    refusals: [409],
    adds: { digest: (context) => context.header(commandDigestHeader) },
  }),
  endpoint('POST /v1/items/check-integrity', {
    command: Items.commands.checkIntegrity,
    summary: 'Tells which of the user’s items differ from what the client has.',
    bodyLimit: 'large',
    refusals: [400],
  }),
  endpoint('GET /v1/items/:uuid', {
    command: Items.commands.getItem,
    summary: 'Gives one item of the user, also when it is deleted.',
    refusals: [404],
  }),
];

// --- the history of items (docs/protocol/sync.md, "Revisions") ----------------------------------------------------

const revisions = family({ tag: 'Revisions' });

const retired = { status: 410, message: 'Please update your application to see the history of notes.' };

/**
 * Old clients look here for the history of an item. The answer tells them to update, so that they do not find an
 * empty history.
 */
const retiredRevisions = (name: RouteName): AnyRoute =>
  revisions.route(name, {
    access: 'public',
    summary: 'Retired; tells old clients to update.',
    request: z.object({}),
    refusals: [410],
    handle: async () => refusedAnswer(retired),
  });

export const revisionRoutes: readonly AnyRoute[] = [
  retiredRevisions('GET /v1/items/:uuid/revisions'),
  retiredRevisions('GET /v1/items/:uuid/revisions/:id'),
  retiredRevisions('DELETE /v1/items/:uuid/revisions/:id'),
  revisions.endpoint('GET /v2/items/:itemUuid/revisions', {
    command: Revisions.commands.listRevisions,
    summary: 'The revisions of an item, the newest first, without their content.',
    refusals: [400],
  }),
  revisions.endpoint('GET /v2/items/:itemUuid/revisions/:id', {
    command: Revisions.commands.getRevision,
    summary: 'One revision of an item.',
    refusals: [400, 404],
  }),
  revisions.endpoint('DELETE /v2/items/:itemUuid/revisions/:id', {
    command: Revisions.commands.deleteRevision,
    summary: 'Deletes one revision of an item.',
    refusals: [400],
  }),
];
