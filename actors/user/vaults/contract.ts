/** What is asked of a user about shared vaults (docs/protocol/shared-vaults.md), and what vaults tell the user. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { permissions, vaultInviteSchema } from '../../inbox-entries.ts';
import { openToBridges, type SignedInShape, signedIn } from '../../signed-in.ts';
import { memberSchema, vaultSchema } from '../../vault/shown.ts';

const nothing = z.object({});
const done = z.object({ success: z.boolean() });
const uuid = z.string().max(64);
const ofVault = z.object({ sharedVaultUuid: uuid });
const ofMember = ofVault.extend({ userUuid: uuid });
const ofInvite = ofVault.extend({ inviteUuid: uuid });
const invite = z.object({ invite: vaultInviteSchema });
const invites = z.object({ invites: z.array(vaultInviteSchema) });

/** Changes something, and answers that it is done. */
const change = <Fields extends z.ZodObject>(
  fields: Fields,
): SignedInShape<z.infer<Fields>, z.infer<typeof done>> =>
  signedIn<z.infer<Fields>, z.infer<typeof done>>({
    access: 'writes',
    fields: fields as unknown as SignedInShape<z.infer<Fields>, unknown>['fields'],
    ok: done,
  });

/** Refusals: 400 throughout, and 403 where collaboration is switched off for the account. */
const commands = {
  createVault: signedIn({
    access: 'writes',
    fields: nothing,
    ok: z.object({ sharedVault: vaultSchema, sharedVaultUser: memberSchema }),
  }),
  /** Those that the user is a member of. */
  listVaults: signedIn({
    access: 'reads',
    fields: nothing,
    ok: z.object({
      sharedVaults: z.array(vaultSchema),
      designatedSurvivors: z.array(z.object({ sharedVaultUuid: z.string(), userUuid: z.string() })),
    }),
  }),
  deleteVault: change(ofVault),

  listVaultMembers: signedIn({
    access: 'reads',
    fields: ofVault,
    ok: z.object({ users: z.array(memberSchema) }),
  }),
  /** Removes another member, or the caller. */
  removeVaultMember: change(ofMember),
  designateSurvivor: change(ofMember),

  inviteToVault: signedIn({
    access: 'writes',
    fields: ofVault.extend({
      recipient_uuid: uuid,
      encrypted_message: z.string(),
      permission: z.enum(permissions),
    }),
    ok: invite,
  }),
  changeVaultInvite: signedIn({
    access: 'writes',
    fields: ofInvite.extend({
      encrypted_message: z.string(),
      permission: z.enum(permissions).nullish(),
    }),
    ok: invite,
  }),
  acceptVaultInvite: change(ofInvite),
  /** Declines, or cancels. */
  endVaultInvite: change(ofInvite),
  /** Those that the caller has sent, to this vault. */
  listVaultInvites: signedIn({ access: 'reads', fields: ofVault, ok: invites }),
  cancelVaultInvites: change(ofVault),
  /** Those that the caller has sent, to all. */
  listOutboundInvites: signedIn({ access: 'reads', fields: nothing, ok: invites }),
  cancelOutboundInvites: change(nothing),
  /** Those that wait for the caller's answer. */
  declineInboundInvites: change(nothing),
};

const membership = z.object({ vaultUuid: z.string(), membership: z.number() });

/** By vaults, in no order: see `memberships.ts`. */
const tells = {
  joined: membership,
  /** And the user is notified, in the same tell: one commit may end a thousand memberships. `at`: as in the inbox. */
  left: membership.extend({ at: z.int() }),
  /** Somebody has invited the user for the first time to this vault. */
  mailVaultInvite: z.object({ inviteUuid: z.string() }),
};

export const Vaults = contract({
  name: 'user',
  commands: {
    ...openToBridges(commands),
    // It takes from the other members what they have.
    deleteVault: commands.deleteVault,
  },
  tells,
});
