/** People's actions with vaults: they make them, admit, remove, leave, hand on and end. */

import { type Operation, type Permission, permissions } from '../operations.ts';
import type { Person } from './person.ts';

const path = '/v1/shared-vaults';
const ownedMax = 2;
/** How often an act has a permitted target: a member according to the actor's knowledge, or a vault of their own. */
const aimedAt = { remove: 0.3, designate: 0.8 } as const;

interface ListedInvite {
  readonly uuid: string;
  readonly shared_vault_uuid: string;
  readonly permission: Permission;
}

export async function makeVault(person: Person): Promise<void> {
  await person.listVaults();
  if (person.owned.length >= ownedMax) return;
  const { vault } = await person.perform({ does: 'make-vault' }, async (send) => {
    const { status, body } = await send({ method: 'POST', path, token: person.token });
    const made = body as { sharedVault?: { uuid: string } } | undefined;
    return { status, ...(made?.sharedVault !== undefined && { vault: made.sharedVault.uuid }) };
  });
  if (vault !== undefined) person.facts.vaults.add(vault);
  await person.listVaults();
}

export async function invite(person: Person): Promise<void> {
  const { random, owned } = person;
  const others = person.others();
  if (owned.length === 0 || others.length === 0) return makeVault(person);
  const { uuid: vault } = random.pick(owned);
  const whom = random.pick(others);
  // More write than read, or nothing would happen.
  const permission = random.pick([...permissions, 'write', 'admin'] as const);
  const body = { recipient_uuid: whom, encrypted_message: '004:secret', permission };
  await person.performOnce(
    { does: 'invite', vault, whom, permission },
    { method: 'POST', path: `${path}/${vault}/invites`, body },
  );
}

export async function changeInvite(person: Person): Promise<void> {
  const { random, owned } = person;
  if (owned.length === 0) return;
  const { uuid: vault } = random.pick(owned);
  const sent = (await person.get<{ invites: ListedInvite[] }>(`${path}/${vault}/invites`))?.invites ?? [];
  if (sent.length === 0) return;
  const { uuid } = random.pick(sent);
  const permission = random.pick(permissions);
  const body = { encrypted_message: '004:changed', permission };
  await person.performOnce(
    { does: 'change-invite', vault, invite: uuid, permission },
    { method: 'PATCH', path: `${path}/${vault}/invites/${uuid}`, body },
  );
}

export async function answerInvite(person: Person): Promise<void> {
  const { random } = person;
  const waiting = (await person.get<{ invites: ListedInvite[] }>(`${path}/invites`))?.invites ?? [];
  if (waiting.length === 0) return;
  const { uuid, shared_vault_uuid: vault, permission } = random.pick(waiting);
  const what = { vault, invite: uuid };
  const operation: Operation = random.chance(0.8)
    ? { does: 'accept', ...what, permission }
    : { does: 'decline', ...what };
  await person.performOnce(operation, {
    method: 'POST',
    path: `${path}/${vault}/invites/${uuid}/${operation.does}`,
  });
  await person.listVaults();
}

export async function removeMember(person: Person): Promise<void> {
  const { random, owned } = person;
  if (owned.length === 0) return;
  const { uuid: vault } = random.pick(owned);
  const whom = await somebody(person, vault, aimedAt.remove);
  if (whom !== undefined) await remove(person, vault, whom);
}

export async function leave(person: Person): Promise<void> {
  const { random, vaults, userUuid } = person;
  const ofOthers = vaults.filter(({ owner }) => owner !== userUuid);
  if (ofOthers.length > 0) await remove(person, random.pick(ofOthers).uuid, userUuid);
}

async function remove(person: Person, vault: string, whom: string): Promise<void> {
  const operation = { does: 'remove', vault, whom } as const;
  await person.performOnce(operation, { method: 'DELETE', path: `${path}/${vault}/users/${whom}` });
}

export async function designateSurvivor(person: Person): Promise<void> {
  const { random, vaults, owned } = person;
  if (vaults.length === 0) return;
  const { uuid: vault } = random.pick(owned.length > 0 && random.chance(aimedAt.designate) ? owned : vaults);
  const whom = await somebody(person, vault, aimedAt.designate);
  if (whom === undefined) return;
  await person.performOnce(
    { does: 'designate', vault, whom },
    { method: 'POST', path: `${path}/${vault}/users/${whom}/designate-survivor` },
  );
}

/** One of the vault's other members, or of all others. */
async function somebody(person: Person, vault: string, aimed: number): Promise<string | undefined> {
  const { random, userUuid } = person;
  const listed = await person.get<{ users: { user_uuid: string }[] }>(`${path}/${vault}/users`);
  const members = (listed?.users ?? [])
    .map(({ user_uuid: user }) => user)
    .filter((user) => user !== userUuid);
  const whom = members.length > 0 && random.chance(aimed) ? members : person.others();
  return whom.length === 0 ? undefined : random.pick(whom);
}

export async function endVault(person: Person): Promise<void> {
  const { random, owned } = person;
  if (owned.length === 0) return;
  const { uuid: vault } = random.pick(owned);
  await person.performOnce({ does: 'end-vault', vault }, { method: 'DELETE', path: `${path}/${vault}` });
}
