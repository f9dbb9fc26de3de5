/** Settings of shared vaults. */
import { dependency } from '../../runtime/dependency.ts';
import { defaultsOf, integer, type SettingsOf, sameOnAllNodes, section } from '../../runtime/setting.ts';

/** Each is an entry in memory of the user's actor. */
export const membershipsMax = 500;
/** The commit that ends the vault reads all members and tells each of them. */
export const membersMax = 1_000;
export const invitesMax = 500;

export const vaultSettings = sameOnAllNodes(
  section('Shared vaults', {
    vaultsMax: integer({
      name: 'ACCOUNT_VAULTS_MAX',
      unit: 'vaults',
      min: 0,
      max: membershipsMax,
      default: membershipsMax,
      description: 'The most shared vaults that an account may be a member of. 0 lets nobody have any.',
    }),
    membersMax: integer({
      name: 'VAULT_MEMBERS_MAX',
      unit: 'members',
      min: 1,
      max: membersMax,
      default: membersMax,
      description: 'The most members of a shared vault, its owner included.',
    }),
    invitesMax: integer({
      name: 'VAULT_INVITES_MAX',
      unit: 'invites',
      min: 0,
      max: invitesMax,
      default: 200,
      description: 'The most invites to a shared vault that nobody has answered yet.',
    }),
    sentInvitesMax: integer({
      name: 'ACCOUNT_VAULT_INVITES_MAX',
      unit: 'invites',
      min: 0,
      max: 2_000,
      default: 1_000,
      description:
        'The most invites of an account, to all of its shared vaults, that nobody has answered yet.',
    }),
    inviteMailsPerDay: integer({
      name: 'VAULT_INVITE_MAILS_PER_DAY',
      unit: 'mails',
      min: 0,
      max: 1_000,
      default: 5,
      description:
        'The most mails in a day that tell an account of its invites to shared vaults, from all inviters together. 0 sends none.',
    }),
  }),
);
export interface VaultSettings extends SettingsOf<typeof vaultSettings> {}
export const VaultSettings = dependency<VaultSettings>('the settings of shared vaults');
export const defaultVaultSettings: VaultSettings = defaultsOf(vaultSettings);
