/** What is asked of a user about public shares (docs/protocol/public-shares.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { shareTypes, termsFields } from '../../share/contract.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';

const shareView = z.object({
  uuid: z.string(),
  ...termsFields,
  nickname: z.string().nullable(),
  createdAt: z.string(),
  revoked: z.boolean(),
  firstOpenedAt: z.string().nullable(),
});

const ofShare = z.object({ shareUuid: z.string() });

export const PublicShares = contract({
  name: 'user',
  commands: openToBridges({
    /** Refusals: 400 `invalid-share`, 409 `share-limit`, 413 `payload-too-large`. */
    createShare: writes({
      fields: z.object({
        /** One of `shareTypes`. The turn refuses any other, as clients look for the tag of that refusal. */
        type: z
          .unknown()
          .optional()
          .meta({ enum: [...shareTypes] }),
        encryptedPayload: z.unknown().optional().meta({ type: 'string' }),
        nickname: z.unknown().optional(),
        oneTimeView: z.unknown().optional(),
        viewExpiresMinutes: z.unknown().optional(),
      }),
      ok: z.object({ shareId: z.string(), share: shareView }),
    }),
    /** The newest first, with those that ended lately. */
    listShares: reads({ ok: z.object({ shares: z.array(shareView) }) }),
    /** Refusals: 404 `share-not-found`. */
    revokeShare: writes({
      fields: z.object({ shareId: z.string().max(64) }),
      ok: z.object({ message: z.string() }),
    }),

    /** Asked by the share. */
    showsShare: {
      request: ofShare,
      reply: z.object({
        /** The account lists the share. */
        lists: z.boolean(),
        /** Everyone who has the link may see it. */
        shows: z.boolean(),
        /** The size of its ciphertext. */
        bytes: z.number(),
      }),
    },
  }),
  tells: {
    /** From the share: when it was first opened, and since when nobody can open it. */
    shareOpened: ofShare.extend({ atMs: z.number(), endedAtMs: z.number().nullable() }),
  },
});
