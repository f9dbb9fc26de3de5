/** The `share` kind: one actor per public share, with its ciphertext and who has opened it. */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { answerSchema, refuse } from '../reply.ts';

export const shareTypes = ['note', 'tag', 'account'] as const;
/** UTF-8 of an encrypted payload. */
export const payloadBytesMax = 5 * 1_048_576;

export const termsFields = {
  type: z.enum(shareTypes),
  oneTimeView: z.boolean(),
  viewExpiresMinutes: z.int().nullable(),
};

export const viewSchema = z.object({ ...termsFields, encryptedPayload: z.string() });

/** Instead of the share. */
const needsRoomSchema = z.object({ needsBytes: z.number() });

/** Whatever the reason is. */
export const shareNotFound = refuse.notFound('Share not found', 'share-not-found');

const nothing = z.object({});

export const Share = contract({
  name: 'share',
  commands: {
    /** Makes a share. Its owner's actor asks for it and lists it next; until then nobody may open it. */
    create: {
      request: z.object({ ownerUuid: z.string(), ...termsFields, encryptedPayload: z.string() }),
      reply: z.object({ createdAtMs: z.number() }),
    },
    /**
     * Asked by anyone who has the link. A share that holds more than the opener has room for is not opened, and the answer says
     * how much it holds. Refusals: 404.
     */
    view: {
      request: z.object({ roomBytes: z.number() }),
      reply: answerSchema(z.union([viewSchema, needsRoomSchema])),
    },
    /** By its owner's actor: from the answer on nobody can open it. */
    end: { request: nothing, reply: nothing },
  },
  tells: {
    /** The owner has revoked it, or is gone. */
    end: z.null(),
  },
  timers: {
    /** It has been open for as long as it may be. */
    expire: z.null(),
    /** Its owner has had the time to list it. */
    confirm: z.null(),
  },
  jobs: {
    /** Asks the owner whether it was listed, and ends it if not. */
    askOwner: z.null(),
  },
});
