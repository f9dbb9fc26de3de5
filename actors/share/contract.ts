/** The `share` kind: one actor per public share, with its ciphertext and its first opening. */
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

/** The answer in place of a share that the opener has no room for. */
const needsRoomSchema = z.object({ needsBytes: z.number() });

/** The one refusal, whatever the reason. */
export const shareNotFound = refuse.notFound('Share not found', 'share-not-found');

const nothing = z.object({});

export const Share = contract({
  name: 'share',
  commands: {
    /** Makes a share. Its owner's actor asks for it and lists it next; until then it does not open. */
    create: {
      request: z.object({ ownerUuid: z.string(), ...termsFields, encryptedPayload: z.string() }),
      reply: z.object({ createdAtMs: z.number() }),
    },
    /**
     * Anyone who has the link may ask. If the share is larger than the opener has room for, it is not opened, and the answer has its size.
     * Refusals: 404.
     */
    view: {
      request: z.object({ roomBytes: z.number() }),
      reply: answerSchema(z.union([viewSchema, needsRoomSchema])),
    },
    /** Called by its owner's actor. After the answer nobody can open it any more. */
    end: { request: nothing, reply: nothing },
  },
  tells: {
    /** The owner has revoked it, or is gone. */
    end: z.null(),
  },
  timers: {
    /** Ends the share after its minutes. */
    expire: z.null(),
    /** Checks whether the owner has listed the share. */
    confirm: z.null(),
  },
  jobs: {
    /** Asks the owner whether it was listed, and ends it if not. */
    askOwner: z.null(),
  },
});
