/** What clients and bridges ask of bridge tokens (docs/protocol/account.md, "Bridge tokens"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { deviceSchema, sessionReplySchema } from '../../identity/session.ts';
import { answerSchema } from '../../reply.ts';
import { reads, writes } from '../../signed-in.ts';

export const bridgeScopes = ['read', 'write'] as const;
/** The names that some clients use. */
export const scopesByOtherName = { 'read-only': 'read', 'read-write': 'write' } as const;

export const wrappedKeysBytesMax = 256 * 1024;

/** The client makes these texts, and the server never reads them. A key takes about 190 bytes. */
const keyMaterialFields = {
  wrappedKeys: z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= wrappedKeysBytesMax, 'is too long'),
  kdfSalt: z.string().min(1).max(256),
  kdfParams: z.string().min(1).max(1_024),
};
export const keyMaterialSchema = z.object(keyMaterialFields);

const scope = z.enum(bridgeScopes);
const tagUuids = z.array(z.string().max(64)).max(200);
const scopeTagUuids = tagUuids.nullable();

/** Times as ISO text. */
const bridgeToken = z.object({
  uuid: z.string(),
  label: z.string(),
  scope,
  scopeTagUuids,
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
});

export const Bridges = contract({
  name: 'user',
  commands: {
    /** Shows the token this once. Refusals: 400 for a blank label, too many tokens, or too many bytes of keys. */
    makeBridgeToken: writes({
      fields: z.object({
        label: z.string().max(1_024),
        scope: z.enum([...bridgeScopes, 'read-only', 'read-write']),
        scopeTagUuids: tagUuids.nullish(),
        ...keyMaterialFields,
      }),
      ok: z.object({ mcpToken: bridgeToken, token: z.string() }),
    }),
    listBridgeTokens: reads({
      ok: z.object({
        mcpTokens: z.array(
          bridgeToken.extend({
            lastUsedAt: z.string().nullable(),
            /** The address of the client that used it last. */
            lastUsedFrom: z.string().nullable(),
          }),
        ),
      }),
    }),
    /** Ends the sessions that it has opened too. Refusals: 404. */
    deleteBridgeToken: writes({
      fields: z.object({ bridgeTokenUuid: z.string().max(64) }),
      ok: z.object({ message: z.string() }),
    }),
    /** Refusals: 404. */
    getBridgeTokenKeys: reads({
      fields: z.object({ bridgeTokenUuid: z.string().max(64) }),
      ok: keyMaterialSchema.extend({ scope, scopeTagUuids }),
    }),

    /** Opens a session for a bridge, with the proof in the request. Refusals: 400 for the version, else 401. */
    authenticateBridge: {
      request: z.object({
        tokenUuid: z.string(),
        secret: z.string(),
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      reply: answerSchema(
        sessionReplySchema.extend({
          mcp_scope: z.object({ access: scope, tagUuids: tagUuids.optional() }),
          mcp_key_material: keyMaterialSchema,
        }),
      ),
    },
  },
});
