/** What a user is asked about shared vaults (docs/protocol/shared-vaults.md), and what vaults tell the user. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { permissions, vaultInviteSchema } from '../../inbox-entries.ts';
import { openToBridges, reads, type SignedInShape, writes } from '../../signed-in.ts';
import { memberSchema, vaultSchema } from '../../vault/responses.ts';

const nothing = z.object({});
const done = z.object({ success: z.boolean() });
const uuid = z.string().max(64);
const ofVault = z.object({ sharedVaultUuid: uuid });
const ofMember = ofVault.extend({ userUuid: uuid });
const ofInvite = ofVault.extend({ inviteUuid: uuid });
const invite = z.object({ invite: vaultInviteSchema });
const invites = z.object({ invites: z.array(vaultInviteSchema) });

/** A command that changes something, and answers that it is done. */
const change = <Fields extends z.ZodObject>(
  fields: Fields,
): SignedInShape<z.infer<Fields>, z.infer<typeof done>> =>
  writes<z.infer<Fields>, z.infer<typeof done>>({
    fields: fields as unknown as SignedInShape<z.infer<Fields>, unknown>['fields'],
    ok: done,
  });

/** Refusals: 400 for all, and 403 if collaboration is switched off for the account. */
const commands = {
  createVault: writes({ ok: z.object({ sharedVault: vaultSchema, sharedVaultUser: memberSchema }) }),
  /** The vaults that the user is a member of. */
  listVaults: reads({
    ok: z.object({
      sharedVaults: z.array(vaultSchema),
      designatedSurvivors: z.array(z.object({ sharedVaultUuid: z.string(), userUuid: z.string() })),
    }),
  }),
  deleteVault: change(ofVault),

  listVaultMembers: reads({ fields: ofVault, ok: z.object({ users: z.array(memberSchema) }) }),
  /** Removes another member, or the caller. */
  removeVaultMember: change(ofMember),
  designateSurvivor: change(ofMember),

  inviteToVault: writes({
    fields: ofVault.extend({
      recipient_uuid: uuid,
      encrypted_message: z.string(),
      permission: z.enum(permissions),
    }),
    ok: invite,
  }),
  changeVaultInvite: writes({
    fields: ofInvite.extend({
      encrypted_message: z.string(),
      permission: z.enum(permissions).nullish(),
    }),
    ok: invite,
  }),
  acceptVaultInvite: change(ofInvite),
  /** Declines, or cancels. */
  endVaultInvite: change(ofInvite),
  /** The invites that the caller has sent for this vault. */
  listVaultInvites: reads({ fields: ofVault, ok: invites }),
  cancelVaultInvites: change(ofVault),
  /** The invites that the caller has sent for all vaults. */
  listOutboundInvites: reads({ ok: invites }),
  cancelOutboundInvites: change(nothing),
  /** The invites that the caller has not answered. */
  declineInboundInvites: change(nothing),
};

const membership = z.object({ vaultUuid: z.string(), membership: z.number() });

export const Vaults = contract({
  name: 'user',
  commands: {
    ...openToBridges(commands),
    // It takes access from the other members.
    deleteVault: commands.deleteVault,
  },
  /** From vaults, in no order (`memberships.ts`). */
  tells: {
    joined: membership,
    /** It also notifies the user: one commit may end a thousand memberships, so each gets a single tell. `at` is as in the inbox. */
    left: membership.extend({ at: z.int() }),
    /** The vault has invited the user for the first time. */
    mailVaultInvite: z.object({ inviteUuid: z.string() }),
  },
});
