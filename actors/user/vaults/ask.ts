/**
 * Asks vaults on behalf of a user. The user's actor checks the session, and the vault decides. A vault that does not exist
 * refuses like one where the user is no member.
 */
import type { CommandShapes } from '../../../runtime/contract.ts';
import { type Ask, type KindRef, unlessAbsent } from '../../../runtime/handles.ts';
import { isUuid } from '../../collection/incoming.ts';
import { type Answer, isRefused, type Refused } from '../../reply.ts';
import { noSuchVault, Vault } from '../../vault/contract.ts';
import type { SignedInWorkflow } from '../signed-in.ts';

type Asks = Pick<SignedInWorkflow<unknown>, 'actors'>;
type AskVault = Ask<typeof Vault.commands>;

/** How many vaults one caller asks at the same time. */
const concurrencyMax = 8;

/** A uuid in lower case, as vaults know it. Undefined: the text is not a uuid. */
export const uuidOf = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

/** For a text that names no user. The vault then checks the caller first, and refuses. */
export const namesNoUser = '00000000-0000-0000-0000-000000000000';

export async function askVault<Ok extends object>(
  workflow: Asks,
  vaultUuid: string,
  asks: (ask: AskVault) => Promise<Answer<Ok>>,
  unlessThere: Refused = noSuchVault,
): Promise<Ok | Refused> {
  const answer = await askIfThere(workflow, Vault, vaultUuid, asks);
  if (answer === undefined) return unlessThere;
  return isRefused(answer) ? answer : answer.ok;
}

/** Asks by the contract of one part of the vault. Undefined: there is no such vault. */
export async function askIfThere<Commands extends CommandShapes, Reply>(
  { actors }: Asks,
  part: KindRef<Commands>,
  vaultUuid: string,
  asks: (ask: Ask<Commands>) => Promise<Reply>,
): Promise<Reply | undefined> {
  const uuid = uuidOf(vaultUuid);
  return uuid === undefined ? undefined : unlessAbsent(asks(actors.get(part, uuid).ask));
}

export async function forEach<T>(all: readonly T[], work: (each: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < all.length; from += concurrencyMax) {
    await Promise.all(all.slice(from, from + concurrencyMax).map(work));
  }
}

/** A step that only checks the session. */
export const sessionCheckStep = { turn: () => ({}) };
