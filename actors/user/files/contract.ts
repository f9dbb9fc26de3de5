/** What clients ask of the files of an account and of its shared vaults (docs/protocol/files.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import {
  fileJobShapes,
  fileMoveTellShapes,
  fileTimerShapes,
  valetTokenCommand,
  valetTokenCommands,
} from '../../files/messages.ts';
import { moveTypes, valetOperations } from '../../identity/valet-tokens.ts';
import { answerSchema } from '../../reply.ts';
import { reads } from '../../signed-in.ts';

const nothing = z.object({});
const uuid = z.string().max(64);
const sizeBytes = z.int().min(0).nullish();

const commands = {
  /** Refusals: 400 for an invalid uuid, 403 where a read-only session asks for more than reading. */
  mintValetToken: reads({
    fields: z.object({
      operation: z.enum(valetOperations).exclude(['move']),
      resources: z.array(z.object({ remoteIdentifier: uuid, unencryptedFileSize: sizeBytes })).length(1),
    }),
    ok: z.union([
      z.object({ success: z.literal(true), valetToken: z.string() }),
      z.object({
        success: z.literal(false),
        reason: z.literal('invalid-parameters'),
        /** Clients show a 403 without a message as a rate limit. */
        error: z.object({ message: z.string() }),
      }),
    ]),
  }),
  /** Refusals: the same, and 400 where the member may not do it in the vault. */
  mintVaultValetToken: reads({
    fields: z.object({
      sharedVaultUuid: uuid,
      remote_identifier: uuid,
      operation: z.enum(valetOperations),
      unencrypted_file_size: sizeBytes,
      move_operation_type: z.enum(moveTypes).nullish(),
      shared_vault_to_shared_vault_move_target_uuid: uuid.nullish(),
    }),
    ok: z.object({ valetToken: z.string() }),
  }),

  ...valetTokenCommands,
  /** Comes before the last bytes of a file are given, so that the token gives a file once. */
  spendOnRead: valetTokenCommand({ by: z.string() }, nothing),

  /** From a shared vault, or into one. Refusals: 400, 503. */
  moveFile: valetTokenCommand({}, nothing),

  /**
   * From a shared vault that the user owns: reserves room for all bytes of an upload there. The hold ends at `endsAtMs`, or
   * when the vault says so (`vaultFiles`). Refusals: 403 `no-space`, 429.
   *
   * - `instead` is an upload that ends when this one begins, so its room is free for this one.
   * - `givesUp` is an upload that may end for this one. It does not count among the few uploads that another member may hold,
   *   but its bytes count towards that member's share.
   */
  holdForVault: {
    request: z.object({
      holdUuid: z.string(),
      /** The member who uploads. */
      by: z.string().optional(),
      bytes: z.int(),
      endsAtMs: z.number(),
      instead: z.string().optional(),
      givesUp: z.string().optional(),
    }),
    reply: answerSchema(nothing),
  },
};

const tells = {
  /**
   * From a shared vault that the user owns: the bytes of its files, and the uploads whose holds have ended. These tells come in
   * no order, and the bytes with the greatest `at` count.
   */
  vaultFiles: z.object({
    bytes: z.object({ used: z.int(), at: z.int() }).nullable(),
    ended: z.array(z.string()).readonly(),
  }),
};

export const Files = contract({
  name: 'user',
  commands,
  tells: { ...tells, ...fileMoveTellShapes },
  timers: fileTimerShapes,
  jobs: fileJobShapes,
});
