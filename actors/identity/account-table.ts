/**
 * The row by which a sign-in finds an account by its address. Only the account's `user` actor writes it. Others read it as a
 * hint, and the actor checks that it still holds.
 */

import { type Lookups, lookup, type Workflow } from '../../runtime/command.ts';
import { type RowOf, table } from '../../runtime/table.ts';
import type { SignInAddress } from './signin-keys.ts';

export const accountTable = table({
  name: 'account',
  columns: {
    user_uuid: 'uuid',
    workspace: 'text',
    /** The normalised e-mail address or username. */
    identifier: 'text',
    password_hash: 'text',
    credentials_version: 'int8',
    /** The stored key params as JSON. */
    key_params: 'text',
  },
  key: ['user_uuid'],
  unique: [['workspace', 'identifier']],
});

export type AccountRow = RowOf<typeof accountTable>;

/** The values of the unique key of an address. */
export function accountKey({ email, workspace }: SignInAddress): { workspace: string; identifier: string } {
  return { workspace, identifier: email };
}

/** The uuid of the user of an address, as committed. @throws ActorError */
export async function findUser(lookups: Lookups, address: SignInAddress): Promise<string | undefined> {
  const { rows } = await lookups.find(lookup(accountTable, [accountKey(address)]));
  return rows[0]?.user_uuid;
}

/** The row of an address as a step of a workflow reads it, and nothing else. */
export const readAccount = (
  workflow: Pick<Workflow, 'turn'>,
  address: SignInAddress,
): Promise<AccountRow | undefined> =>
  workflow.turn({
    reads: () => ({ account: lookup(accountTable, [accountKey(address)]) }),
    turn: (_turn, { account }) => account.rows[0],
  });
