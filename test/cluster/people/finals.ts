/** The final state of a circle, when nobody acts any more, as new devices receive it. */
import { signIn } from '../account.ts';
import type { Client } from '../client.ts';
import { foreignToken, readItems } from '../device.ts';
import type { Entry, Membership, Timed } from '../history.ts';
import type { Permission } from '../operations.ts';
import { countedBytes, readFile } from './files.ts';
import type { Person, Send } from './person.ts';
import type { KnownFile } from './shared-facts.ts';

const filesAtOnce = 8;

interface ShownVaults {
  readonly sharedVaults: readonly { readonly uuid: string; readonly user_uuid: string }[];
  readonly designatedSurvivors: readonly { readonly sharedVaultUuid: string; readonly userUuid: string }[];
}

interface ShownMembers {
  readonly users: readonly { readonly user_uuid: string; readonly permission: Permission }[];
}

export async function readFinals(
  people: readonly Person[],
  newClient: () => Client,
): Promise<readonly Timed[]> {
  const entries: Entry[] = [];
  for (const person of people) entries.push(...(await readPerson(person, newClient())));
  const files = new Map(people.flatMap(({ facts }) => facts.files.map((file) => [file.uuid, file] as const)));
  const toFind = [...files.values()];
  while (toFind.length > 0) {
    const some = toFind.splice(0, filesAtOnce);
    entries.push(...(await Promise.all(some.map((file) => findFile(file, people)))));
  }
  const [{ history } = { history: undefined }] = people;
  return history === undefined ? [] : entries.map((entry) => history.timed(entry));
}

async function readPerson(person: Person, client: Client): Promise<readonly Entry[]> {
  const { userUuid: user, limitBytes } = person;
  const accessToken = await signIn(client, person.account);
  const everything = await readItems({ client, accessToken }, foreignToken);
  const live = await readItems({ client, accessToken }, undefined);
  const bytes = await countedBytes(person);
  const vaults = await readVaults(person);
  return [
    { event: 'final', user, everything, live },
    { event: 'belongs', user, vaults, bytes, limitBytes },
  ];
}

async function readVaults(person: Person): Promise<readonly Membership[]> {
  const view = await person.get<ShownVaults>('/v1/shared-vaults');
  const { sharedVaults = [], designatedSurvivors = [] } = view ?? {};
  await person.listVaults();
  return Promise.all(
    sharedVaults.map(async ({ uuid: vault, user_uuid: owner }) => {
      const survivor = designatedSurvivors.find(({ sharedVaultUuid }) => sharedVaultUuid === vault);
      const { users = [] } = (await person.get<ShownMembers>(`/v1/shared-vaults/${vault}/users`)) ?? {};
      const members = users.map(({ user_uuid: user, permission }) => ({ user, permission }));
      return { vault, owner, survivor: survivor?.userUuid ?? null, members };
    }),
  );
}

/** Looks for it in every possible place. */
async function findFile({ uuid, bytes, collections }: KnownFile, people: readonly Person[]): Promise<Entry> {
  const found: string[] = [];
  let isWhole = true;
  for (const collection of collections) {
    const isReader = ({ userUuid, vaults }: Person) =>
      userUuid === collection || vaults.some((vault) => vault.uuid === collection);
    const person = people.find(isReader);
    if (person === undefined) continue;
    const send: Send = (request) => person.client.call(request);
    const { status, whole } = await readFile({ person, file: uuid, collection }, send, { bytes, parts: 1 });
    if (status !== 200) continue;
    found.push(collection);
    isWhole &&= whole === true;
  }
  return { event: 'kept', file: uuid, collections: found, whole: isWhole };
}
