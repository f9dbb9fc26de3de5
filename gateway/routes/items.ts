/** Item sync, integrity and single items (sync.md 1 and 2; spec, "Sync and items"). */
import { z } from 'zod';
import { integrityFields, itemFields, syncBody, syncItems, syncReplyJson, User } from '../../actors/mod.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { signedInAnswer } from './signed-in.ts';

const tag = 'Sync and items';

const savedItem = z.object({
  uuid: z.string(),
  content_type: z.string().nullable(),
  duplicate_of: z.string().nullable(),
  auth_hash: z.string().nullable(),
  deleted: z.boolean(),
  created_at: z.iso.datetime(),
  created_at_timestamp: z.int(),
  updated_at: z.iso.datetime(),
  updated_at_timestamp: z.int(),
  key_system_identifier: z.string().nullable(),
  shared_vault_uuid: z.string().nullable(),
  user_uuid: z.string(),
  last_edited_by_uuid: z.string().nullable(),
});

const fullItem = savedItem.extend({
  content: z.string().nullable(),
  enc_item_key: z.string().nullable(),
  items_key_id: z.string().nullable(),
  updated_with_session: z.string().nullable(),
});

const conflict = z.object({
  type: z.string(),
  server_item: fullItem.optional(),
  unsaved_item: z.record(z.string(), z.unknown()).optional(),
});

const error = z.object({ error: z.object({ tag: z.string().optional(), message: z.string() }) });
const list = z.array(z.record(z.string(), z.unknown()));

const syncReply = z.object({
  retrieved_items: z.array(fullItem),
  saved_items: z.array(savedItem),
  conflicts: z.array(conflict),
  sync_token: z.string(),
  cursor_token: z.string().optional(),
  messages: list,
  shared_vaults: list,
  shared_vault_invites: list,
  notifications: list,
});

/** What API version 20161215 gets. */
const legacySyncReply = z.object({
  retrieved_items: z.array(fullItem),
  saved_items: z.array(fullItem),
  unsaved: z.array(
    z.object({ item: z.record(z.string(), z.unknown()), error: z.object({ tag: z.string() }) }),
  ),
  sync_token: z.string(),
  cursor_token: z.string().optional(),
});

export const itemRoutes: readonly AnyRoute[] = [
  route({
    method: 'POST',
    path: '/v1/items',
    access: 'session',
    summary: 'Saves items and gives those that changed since the token.',
    tag,
    bodyLimit: 'large',
    request: syncBody,
    replies: { 200: z.union([syncReply, legacySyncReply]), 400: error, 401: error },
    handle: ({ actors, credentials, snjsVersion, ask }, request) =>
      signedInAnswer(
        // Not spread into another object: that costs four times what parsing and checking it did.
        syncItems(actors, Object.assign(request, { credentials, snjs_version: snjsVersion }), ask),
        (reply) => ({ status: 200, json: syncReplyJson(reply) }),
      ),
  }),
  route({
    method: 'POST',
    path: '/v1/items/check-integrity',
    access: 'session',
    summary: 'Tells which of the user’s items differ from what the client has.',
    tag,
    bodyLimit: 'large',
    request: integrityFields,
    replies: {
      200: z.object({ mismatches: z.array(z.object({ uuid: z.string(), updated_at_timestamp: z.int() })) }),
      400: error,
      401: error,
    },
    handle: ({ actors, credentials, ask }, request) =>
      signedInAnswer(
        actors.get(User, credentials.userUuid).ask.checkIntegrity({ ...request, credentials }, ask),
        (body) => ({ status: 200, body }),
      ),
  }),
  route({
    method: 'GET',
    path: '/v1/items/:uuid',
    safe: true,
    access: 'session',
    summary: 'Gives one item of the user, also when it is deleted.',
    tag,
    request: itemFields,
    replies: { 200: z.object({ item: fullItem }), 401: error, 404: error },
    handle: ({ actors, credentials, ask }, { uuid }) =>
      signedInAnswer(
        actors.get(User, credentials.userUuid).ask.getItem({ uuid, credentials }, ask),
        (body) => ({ status: 200, body }),
      ),
  }),
];
