/** The names that clients give to commands (docs/protocol/sockets.md, "Commands over HTTP"). */
import { z } from 'zod';
import { type Refused, refuse } from './reply.ts';

export const commandIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const digestPattern = /^[0-9a-f]{64}$/;

/** What the answer of a sync says of its command. */
export const answeredCommandSchema = z.object({
  id: z.string(),
  digest: z.string(),
  status: z.literal('committed'),
  /** The command was carried out before, and this is its answer once more. A header says so, not the body. */
  replayed: z.boolean(),
});
export type AnsweredCommand = z.infer<typeof answeredCommandSchema>;

/** The fields as the client sent them. Null stands for a field that is missing, or is not text. */
export const commandIdentitySchema = z.object({
  id: z.string().nullable(),
  digest: z.string().nullable(),
  /** For a command over the lane: the hold that the actor has promised to wait for. */
  hold: z.string().optional(),
});
export type IdentityInput = z.infer<typeof commandIdentitySchema>;

export interface CommandIdentity {
  readonly id: string;
  readonly digest: string;
  readonly hold?: string | undefined;
}

const incomplete = refuse.badRequest(
  'A command needs its id and its digest, each once.',
  'invalid_sync_command_metadata',
);
export const wrongId = refuse.badRequest('The id of the command is not valid.', 'invalid_sync_command_id');
const wrongDigest = refuse.badRequest(
  'The digest of the command is not valid.',
  'invalid_sync_command_digest',
);

export function commandIdentityOf({ id, digest, hold }: IdentityInput): CommandIdentity | Refused {
  if (id === null || digest === null) return incomplete;
  if (!commandIdPattern.test(id)) return wrongId;
  if (!digestPattern.test(digest)) return wrongDigest;
  return { id, digest, hold };
}

export const otherDigest = refuse.conflict(
  'There is another command of this id.',
  'sync_command_digest_mismatch',
);
export const needsModernApi = refuse.badRequest(
  'A command needs a version of the API that knows it.',
  'sync_command_rejected',
);
export const isUnderWay = refuse.conflict(
  'This command is being carried out. Please ask again.',
  'sync_command_pending',
  { retryAfterMs: 1_000 },
);
export const journalFull = refuse.tooMany(
  'This account has sent too many commands. Please try again later.',
  60_000,
  { tag: 'sync_command_rate_limited' },
);
/** The hold or its actor's activation has ended, so the hold promises nothing any more. */
export const holdLost = refuse.conflict('The command is not held any more.', 'sync_command_lost');
