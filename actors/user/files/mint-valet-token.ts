/** Makes a token for one file: of the user, or of a shared vault if the vault allows it. */
import type { z } from 'zod';
import { isUuid } from '../../collection/incoming.ts';
import { FileSettings } from '../../files/settings.ts';
import { type Move, type ValetClaims, ValetTokens } from '../../identity/valet-tokens.ts';
import { isRefused, type Refused, refuse } from '../../reply.ts';
import { noSuchVault } from '../../vault/contract.ts';
import { VaultFiles } from '../../vault/files/contract.ts';
import { refusalToWrite, signedInRead, signedInWorkflow } from '../signed-in.ts';
import { askIfThere, uuidOf } from '../vaults/ask.ts';
import { Files } from './contract.ts';

const notUuid = refuse.badRequest('That is not the identifier of a file.', 'invalid-parameters');
const withoutVaultSize = refuse.badRequest('The size of the file is missing.', 'invalid-parameters');
const withoutType = refuse.badRequest('The type of the move is missing.', 'invalid-parameters');
const withoutTarget = refuse.badRequest('The shared vault to which the file goes is missing.');
const sameVault = refuse.badRequest('The file would stay where it is.');

const withoutSize = {
  success: false as const,
  reason: 'invalid-parameters' as const,
  error: { message: 'Say how large the file is: its unencryptedFileSize.' },
};

export const mintValetToken = signedInRead(
  Files.commands.mintValetToken,
  (view, { operation, resources }, _reads, by) => {
    const refused = operation === 'read' ? undefined : refusalToWrite(by.readonly);
    if (refused !== undefined) return refused;
    const [resource] = resources;
    if (resource === undefined || !isUuid(resource.remoteIdentifier)) return notUuid;
    const unencryptedBytes = resource.unencryptedFileSize ?? undefined;
    if (operation === 'write' && unencryptedBytes === undefined) return withoutSize;
    const valetToken = view.use(ValetTokens).mint({
      userUuid: view.self.id,
      sessionUuid: by.session.uuid,
      operation,
      remoteIdentifier: resource.remoteIdentifier.toLowerCase(),
      unencryptedBytes: unencryptedBytes ?? 0,
      issuedMs: view.nowMs,
      endsMs: view.nowMs + view.use(FileSettings).valetTokenAgeMs,
    });
    return { success: true as const, valetToken };
  },
);

type MintRequest = z.infer<typeof Files.commands.mintVaultValetToken.fields>;
type MintedClaims = Pick<
  ValetClaims,
  'operation' | 'remoteIdentifier' | 'sharedVaultUuid' | 'unencryptedBytes' | 'move'
>;

function claimsOf(request: MintRequest): MintedClaims | Refused {
  const { operation, remote_identifier: identifier, unencrypted_file_size: bytes } = request;
  if (!isUuid(identifier)) return notUuid;
  if (operation === 'write' && bytes == null) return withoutVaultSize;
  const move = operation === 'move' ? moveOf(request) : undefined;
  if (isRefused(move)) return move;
  const common = { operation, remoteIdentifier: identifier.toLowerCase(), unencryptedBytes: bytes ?? 0 };
  return { ...common, sharedVaultUuid: request.sharedVaultUuid.toLowerCase(), ...(move && { move }) };
}

function moveOf(request: MintRequest): Move | Refused {
  const { move_operation_type: type, shared_vault_to_shared_vault_move_target_uuid: target } = request;
  if (type == null) return withoutType;
  if (type !== 'shared-vault-to-shared-vault') return { type };
  const targetVaultUuid = target == null ? undefined : uuidOf(target);
  if (targetVaultUuid === undefined) return withoutTarget;
  return targetVaultUuid === request.sharedVaultUuid.toLowerCase() ? sameVault : { type, targetVaultUuid };
}

export const mintVaultValetToken = signedInWorkflow(
  Files.commands.mintVaultValetToken,
  async (workflow, request) => {
    const { id: by } = workflow.self;
    const writes = request.operation !== 'read';
    const requested = await workflow.turn({
      turn: (_turn, _reads, { readonly }) =>
        (writes ? refusalToWrite(readonly) : undefined) ?? claimsOf(request),
    });
    for (const uuid of [request.sharedVaultUuid, requested.move?.targetVaultUuid]) {
      if (uuid === undefined) continue;
      const may = await askIfThere(workflow, VaultFiles, uuid, (vault) => vault.mayUseFiles({ by, writes }));
      if (may === undefined || isRefused(may)) return may ?? noSuchVault;
    }
    return workflow.lastTurn({
      turn: (turn, _reads, { session }) => ({
        valetToken: turn.use(ValetTokens).mint({
          ...requested,
          userUuid: by,
          sessionUuid: session.uuid,
          issuedMs: turn.nowMs,
          endsMs: turn.nowMs + turn.use(FileSettings).valetTokenAgeMs,
        }),
      }),
    });
  },
);
