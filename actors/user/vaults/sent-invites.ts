/**
 * The user sends invites to shared vaults. The vault decides about each (`actors/vault/membership/invites.ts`). This actor limits their
 * number over all vaults, and counts the rows of the vaults for that. Only owners invite, so it looks at the user's own vaults.
 */
import { type CrossOwnerResult, crossOwner, type PlanResults, type View } from '../../../runtime/command.ts';
import { isStorableText } from '../../../runtime/table.ts';
import { encryptedMessageBytesMax } from '../../inbox-entries.ts';
import { type Refused, refuse } from '../../reply.ts';
import { noSuchInvite, Vault } from '../../vault/contract.ts';
import { inviteResponse } from '../../vault/responses.ts';
import { VaultSettings } from '../../vault/settings.ts';
import { type InviteRow, vaultInviteTable } from '../../vault/tables.ts';
import { signedInWorkflow } from '../signed-in.ts';
import { askIfThere, askVault, forEach, sessionCheckStep, uuidOf } from './ask.ts';
import { Vaults } from './contract.ts';
import { fromStart, membershipFor, ownVaultsPlan } from './list.ts';
import { mayCollaborate, switchedOff } from './memberships.ts';

/** For all unanswered invites of a user, so that one list holds them. */
const sentBytesMax = 8 * 1_048_576;
/** Calls that run at the same time may exceed the limit together. */
const listedMax = 5_000;

const notAUuid = refuse.badRequest('The recipient has to be named by a uuid.');
const empty = refuse.badRequest('The invite has no encrypted message.');
const tooLong = refuse.badRequest(`An encrypted message may have ${encryptedMessageBytesMax} bytes at most.`);
const notStorable = refuse.badRequest('The encrypted message contains characters that cannot be stored.');
const tooMany = refuse.badRequest('You have sent as many invites as you can. Please cancel some first.');

export const inviteToVault = signedInWorkflow(
  Vaults.commands.inviteToVault,
  async (workflow, { sharedVaultUuid, recipient_uuid, encrypted_message, permission }) => {
    const { id: by } = workflow.self;
    const { recipientUuid, owned } = await workflow.turn({
      reads: ownVaultsPlan,
      turn: (turn, reads) => {
        const recipientUuid = uuidOf(recipient_uuid);
        if (!mayCollaborate(turn)) return switchedOff;
        if (recipientUuid === undefined) return notAUuid;
        return defectOf(encrypted_message) ?? { recipientUuid, owned: ownedBy(turn, reads) };
      },
    });
    const vaultUuid = sharedVaultUuid.toLowerCase();
    await workflow.turn(
      checkLimits(owned, ({ vault, invitee }) => vault === vaultUuid && invitee === recipientUuid),
    );
    const invitation = { recipientUuid, encryptedMessage: encrypted_message, permission };
    return askVault(workflow, sharedVaultUuid, (vault) => vault.invite({ by, ...invitation }));
  },
);

export const changeVaultInvite = signedInWorkflow(
  Vaults.commands.changeVaultInvite,
  async (workflow, { sharedVaultUuid, inviteUuid, encrypted_message, permission }) => {
    const { owned } = await workflow.turn({
      reads: ownVaultsPlan,
      turn: (turn, reads) => {
        if (!mayCollaborate(turn)) return switchedOff;
        return defectOf(encrypted_message) ?? { owned: ownedBy(turn, reads) };
      },
    });
    const ofInvite = { by: workflow.self.id, inviteUuid: inviteUuid.toLowerCase() };
    await workflow.turn(checkLimits(owned, ({ uuid }) => uuid === ofInvite.inviteUuid));
    const invitation = { encryptedMessage: encrypted_message, ...(permission != null && { permission }) };
    return askVault(
      workflow,
      sharedVaultUuid,
      (vault) => vault.changeInvite({ ...ofInvite, ...invitation }),
      noSuchInvite,
    );
  },
);

function defectOf(encryptedMessage: string): Refused | undefined {
  if (encryptedMessage === '') return empty;
  if (Buffer.byteLength(encryptedMessage) > encryptedMessageBytesMax) return tooLong;
  return isStorableText(encryptedMessage) ? undefined : notStorable;
}

export const listVaultInvites = signedInWorkflow(
  Vaults.commands.listVaultInvites,
  async (workflow, { sharedVaultUuid }) => {
    await workflow.turn(sessionCheckStep);
    const { id: by } = workflow.self;
    const sent = await askIfThere(workflow, Vault, sharedVaultUuid, (vault) => vault.sentInvites({ by }));
    return sent ?? { invites: [] };
  },
);

export const listOutboundInvites = signedInWorkflow(Vaults.commands.listOutboundInvites, async (workflow) => {
  const owned = await workflow.turn({ reads: ownVaultsPlan, turn: ownedBy });
  return workflow.lastTurn({
    reads: (view) => ({ sent: sentPlan(view, owned) }),
    turn: (turn, { sent }) => ({
      invites: rowsOf(sent)
        .filter(({ sender_uuid }) => sender_uuid === turn.self.id)
        .map(inviteResponse),
    }),
  });
});

export const cancelVaultInvites = signedInWorkflow(
  Vaults.commands.cancelVaultInvites,
  async (workflow, { sharedVaultUuid }) => {
    await workflow.turn(sessionCheckStep);
    const { id: by } = workflow.self;
    await askIfThere(workflow, Vault, sharedVaultUuid, (vault) => vault.cancelInvites({ by }));
    return { success: true };
  },
);

export const cancelOutboundInvites = signedInWorkflow(
  Vaults.commands.cancelOutboundInvites,
  async (workflow) => {
    const owned = await workflow.turn({ reads: ownVaultsPlan, turn: ownedBy });
    const { id: by } = workflow.self;
    await forEach(owned, (vaultUuid) =>
      askIfThere(workflow, Vault, vaultUuid, (vault) => vault.cancelInvites({ by })),
    );
    return { success: true };
  },
);

type OwnVaults = PlanResults<ReturnType<typeof ownVaultsPlan>>;

const ownedBy = ({ self }: Pick<View, 'self'>, { vaults }: OwnVaults): readonly string[] =>
  vaults.owners
    .filter(({ rows }) => rows.some(({ owner_uuid }) => owner_uuid === self.id))
    .map(({ owner }) => owner);

const sentPlan = (view: View, owned: readonly string[], columns?: readonly (keyof InviteRow)[]) =>
  crossOwner(vaultInviteTable, {
    membership: membershipFor(view),
    owners: fromStart(owned),
    limit: listedMax,
    budgetBytes: 2 * sentBytesMax,
    ...(columns !== undefined && { columns }),
  });

const rowsOf = ({ owners }: CrossOwnerResult<typeof vaultInviteTable>): readonly InviteRow[] =>
  owners.flatMap(({ rows }) => rows);

/** One more invite may be sent, or one that was sent may be changed. The changed one does not count. */
const checkLimits = (owned: readonly string[], isReplaced: (row: InviteRow) => boolean) => ({
  reads: (view: View) => ({ sent: sentPlan(view, owned, ['invitee', 'uuid', 'bytes']) }),
  turn: (turn: View, { sent }: { readonly sent: CrossOwnerResult<typeof vaultInviteTable> }) => {
    const others = rowsOf(sent).filter((row) => !isReplaced(row));
    return isWithinLimits(turn, others) ? {} : tooMany;
  },
});

function isWithinLimits(view: View, sent: readonly InviteRow[]): boolean {
  const sentBytes = sent.reduce((sum, { bytes }) => sum + bytes, 0);
  return sent.length < view.use(VaultSettings).sentInvitesMax && sentBytes < sentBytesMax;
}
