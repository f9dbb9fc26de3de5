/** A token for one file of a shared vault, if the vault says that the caller may have it. */
import { isUuid } from '../../collection/incoming.ts';
import { FileSettings } from '../../files/settings.ts';
import { type Move, type ValetClaims, ValetTokens } from '../../identity/valet-tokens.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { noSuchVault } from '../../vault/contract.ts';
import { VaultFiles } from '../../vault/files/contract.ts';
import { refusalToWrite, signedInWorkflow } from '../signed-in.ts';
import { askIfThere, uuidOf } from '../vaults/ask.ts';
import { Files } from './contract.ts';

const notUuid = refuse.badRequest('That is not the identifier of a file.', 'invalid-parameters');
const withoutSize = refuse.badRequest('The size of the file is missing.', 'invalid-parameters');
const withoutType = refuse.badRequest('The type of the move is missing.', 'invalid-parameters');
const withoutTarget = refuse.badRequest('The shared vault to which the file goes is missing.');
const sameVault = refuse.badRequest('The file would stay where it is.');

interface Asked {
  readonly sharedVaultUuid: string;
  readonly remote_identifier: string;
  readonly operation: ValetClaims['operation'];
  readonly unencrypted_file_size?: number | null | undefined;
  readonly move_operation_type?: Move['type'] | null | undefined;
  readonly shared_vault_to_shared_vault_move_target_uuid?: string | null | undefined;
}

type Wanted = Pick<
  ValetClaims,
  'operation' | 'remoteIdentifier' | 'sharedVaultUuid' | 'unencryptedBytes' | 'move'
>;

function wantedOf(asked: Asked): Wanted | Refused {
  const { operation, remote_identifier: identifier, unencrypted_file_size: bytes } = asked;
  if (!isUuid(identifier)) return notUuid;
  if (operation === 'write' && bytes == null) return withoutSize;
  const move = operation === 'move' ? moveOf(asked) : undefined;
  if (isRefused(move)) return move;
  const common = { operation, remoteIdentifier: identifier.toLowerCase(), unencryptedBytes: bytes ?? 0 };
  return { ...common, sharedVaultUuid: asked.sharedVaultUuid.toLowerCase(), ...(move && { move }) };
}

function moveOf(asked: Asked): Move | Refused {
  const { move_operation_type: type, shared_vault_to_shared_vault_move_target_uuid: target } = asked;
  if (type == null) return withoutType;
  if (type !== 'shared-vault-to-shared-vault') return { type };
  const targetVaultUuid = target == null ? undefined : uuidOf(target);
  if (targetVaultUuid === undefined) return withoutTarget;
  return targetVaultUuid === asked.sharedVaultUuid.toLowerCase() ? sameVault : { type, targetVaultUuid };
}

export const mintVaultValetToken = signedInWorkflow({
  ...Files.commands.mintVaultValetToken,
  run: async (workflow, asked) => {
    const { id: by } = workflow.self;
    const writes = asked.operation !== 'read';
    const wanted = await workflow.turn({
      turn: (_turn, _reads, { readonly }) =>
        (writes ? refusalToWrite(readonly) : undefined) ?? wantedOf(asked),
    });
    for (const uuid of [asked.sharedVaultUuid, wanted.move?.targetVaultUuid]) {
      if (uuid === undefined) continue;
      const may = await askIfThere(workflow, VaultFiles, uuid, (vault) => vault.mayUseFiles({ by, writes }));
      if (may === undefined || isRefused(may)) return may ?? noSuchVault;
    }
    return workflow.lastTurn({
      turn: (turn, _reads, { session }) => ({
        valetToken: turn.use(ValetTokens).mint({
          ...wanted,
          userUuid: by,
          sessionUuid: session.uuid,
          issuedMs: turn.nowMs,
          endsMs: turn.nowMs + turn.use(FileSettings).valetTokenAgeMs,
        }),
      }),
    });
  },
});
