/** Shared vaults over HTTP, for tests. */
import type { ExecutionContext } from 'ava';
import {
  type InviteRow,
  type MemberRow,
  memberTable,
  type VaultRow,
  vaultInviteTable,
  vaultTable,
} from '../../actors/vault/tables.ts';
import type { Device } from './device.ts';
import { type ServerOptions, startServer, type TestServer } from './server.ts';

export const vaults = '/v1/shared-vaults';

export async function makeVault(device: Device): Promise<string> {
  const { status, text, body } = await device.call('POST', vaults);
  if (status !== 200) throw new Error(text);
  return body.sharedVault.uuid;
}

export type Permission = 'read' | 'write' | 'admin';

/** The uuid of the invite. */
export async function invite(
  device: Device,
  vault: string,
  recipient: string,
  permission: Permission = 'write',
): Promise<string> {
  const body = { recipient_uuid: recipient, encrypted_message: 'c2VjcmV0', permission };
  const answer = await device.call('POST', `${vaults}/${vault}/invites`, { body });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.invite.uuid;
}

export const accept = (device: Device, vault: string, inviteUuid: string) =>
  device.call('POST', `${vaults}/${vault}/invites/${inviteUuid}/accept`);

/** Makes the second user a member of a vault that the first one owns. */
export async function join(
  owner: Device,
  vault: string,
  member: Device,
  permission: Permission = 'write',
): Promise<void> {
  const answer = await accept(member, vault, await invite(owner, vault, member.account.userUuid, permission));
  if (answer.status !== 200) throw new Error(answer.text);
}

/** A server, and a vault of Alice's that Bob is a member of. */
export async function startSharedVault(
  t: ExecutionContext,
  { permission = 'write', server: options = {} }: { permission?: Permission; server?: ServerOptions } = {},
) {
  const server = await startServer(t, options);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(alice);
  await join(alice, vault, bob, permission);
  return { server, alice, bob, vault };
}

const everything = { after: 0, through: Number.MAX_SAFE_INTEGER, limit: 2_000 };

export interface VaultRows {
  readonly vault: VaultRow | undefined;
  readonly members: readonly MemberRow[];
  readonly invites: readonly InviteRow[];
}

/** The database's view of a vault. */
export async function rowsOf({ host }: Pick<TestServer, 'host'>, vault: string): Promise<VaultRows> {
  const [rows, members, invites] = await host.store.read([
    { read: 'keys', table: vaultTable, keys: [{ vault }] },
    { read: 'range', table: memberTable, owner: vault, ...everything },
    { read: 'range', table: vaultInviteTable, owner: vault, ...everything },
  ]);
  return {
    vault: rows?.rows[0] as VaultRow | undefined,
    members: members?.rows as readonly MemberRow[],
    invites: invites?.rows as readonly InviteRow[],
  };
}

/** What must hold of a vault at any moment; undefined if it does. */
export function wrongWith({ vault, members, invites }: VaultRows): string | undefined {
  if (vault === undefined) return members.length + invites.length > 0 ? 'rows of no vault' : undefined;
  const owner = members.find(({ member }) => member === vault.owner_uuid);
  if (owner?.permission !== 'admin') return 'an owner who is no admin member';
  const { survivor_uuid: survivor } = vault;
  const isMember = (uuid: string) => members.some(({ member }) => member === uuid);
  if (survivor !== null && (survivor === vault.owner_uuid || !isMember(survivor))) return 'a wrong survivor';
  if (invites.some(({ invitee }) => isMember(invitee))) return 'a member who is invited';
  if (invites.some(({ sender_uuid }) => sender_uuid !== vault.owner_uuid)) return 'an invite of nobody';
  const orders = members.map(({ position }) => position);
  return new Set(orders).size < orders.length ? 'two members at one position' : undefined;
}
