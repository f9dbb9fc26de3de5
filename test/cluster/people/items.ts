/** People's saves in vaults: new items, edits of their items, and moves into vaults, between them and out of them. */
import type { Write } from '../history.ts';
import type { Person } from './person.ts';

const itemsMax = 60;

export function saveItem(person: Person): Promise<void> {
  return person.device.save(chooseWrite(person));
}

function chooseWrite(person: Person): Write {
  const { random, device } = person;
  const { live } = device;
  const nonce = random.uuid();
  const drawn = random.fraction();
  if (live.length === 0 || (drawn < 0.3 && live.length < itemsMax)) {
    return { uuid: random.uuid(), nonce, base: 0, deleted: false, ...inVault(chooseVault(person)) };
  }
  const uuid = random.pick(live);
  const { version: base, vault } = device.held(uuid) ?? { version: 0 };
  if (drawn < 0.7) return { uuid, nonce, base, deleted: false, ...inVault(vault) };
  if (drawn < 0.8) return { uuid, nonce, base, deleted: true, ...inVault(vault) };
  return { uuid, nonce, base, deleted: false, ...inVault(chooseVault(person)) };
}

/** A vault that the person knows, now and then one of others, or none. */
function chooseVault({ random, vaults, facts }: Person): string | undefined {
  const drawn = random.fraction();
  if (drawn < 0.2) return undefined;
  if (drawn < 0.26 && facts.vaults.size > 0) return random.pick([...facts.vaults]);
  return vaults.length === 0 ? undefined : random.pick(vaults).uuid;
}

const inVault = (vault: string | undefined) => (vault === undefined ? {} : { vault });
