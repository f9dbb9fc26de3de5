/** Shared vaults over HTTP. */
import { type Account, ask, newItem } from './api-client.ts';

const base = '/v1/shared-vaults';

export async function makeVault(url: string, owner: Account): Promise<string> {
  const { sharedVault } = (await ask(url, 'POST', base, owner, {})) as { sharedVault: { uuid: string } };
  return sharedVault.uuid;
}

/** The owner invites a user, who accepts. */
export async function admit(url: string, owner: Account, vault: string, member: Account): Promise<void> {
  const body = { recipient_uuid: member.userUuid, encrypted_message: 'c2VjcmV0', permission: 'write' };
  const { invite } = (await ask(url, 'POST', `${base}/${vault}/invites`, owner, body)) as {
    invite: { uuid: string };
  };
  await ask(url, 'POST', `${base}/${vault}/invites/${invite.uuid}/accept`, member, {});
}

export const vaultItem = (vault: string) => ({
  ...newItem(),
  shared_vault_uuid: vault,
  key_system_identifier: '22222222-3333-4444-8555-666666666666',
});
