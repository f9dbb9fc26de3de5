/** What clients ask of the files of an account, and of those of its shared vaults (docs/protocol/files.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import {
  byToken,
  byTokenShapes,
  fileJobShapes,
  fileMoveTellShapes,
  fileTimerShapes,
} from '../../files/messages.ts';
import { moveTypes, valetOperations } from '../../identity/valet-tokens.ts';
import { answerSchema } from '../../reply.ts';
import { signedIn } from '../../signed-in.ts';

const nothing = z.object({});
const uuid = z.string().max(64);
const sizeBytes = z.int().min(0).nullish();

const commands = {
  /** Refusals: 400 for what is no uuid, 403 for more than reading in a read-only session or that of a bridge. */
  mintValetToken: signedIn({
    access: 'reads',
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
  /** Refusals: likewise, and 400 where the member may not do it in the vault. */
  mintVaultValetToken: signedIn({
    access: 'reads',
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

  ...byTokenShapes,
  /** Before the last bytes of a file are given: the token gives them once. */
  spendOnRead: byToken({ by: z.string() }, nothing),

  /** From or into a shared vault. Refusals: 400, 503. */
  moveFile: byToken({}, nothing),

  /**
   * By a shared vault that the user owns: room for what an upload there holds, all in all. Not there any more from
   * `endsAtMs` on, unless the vault says so before (`vaultFiles`). `instead` is the upload that ends with the beginning of
   * this one: its room is. `givesUp` may end for it, and does not count among the few that another member holds; its bytes
   * do, in the share of the room that they may hold. Refusals: 403 `no-space`, 429.
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
   * By a shared vault that the user owns: what its files take, and for which uploads nothing is to be held any more. These
   * come in no order: of the bytes, those of the greatest `at` count.
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
