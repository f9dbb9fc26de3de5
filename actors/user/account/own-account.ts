/** The account's own row, as its turns read it. */
import { type KeysResult, keys, type View } from '../../../runtime/command.ts';
import { type AccountRow, accountTable } from '../../identity/account-table.ts';

export const ownAccount = (view: View) => ({ account: keys(accountTable, [{ user_uuid: view.self.id }]) });

export interface OwnAccount {
  readonly account: KeysResult<typeof accountTable>;
}

/** For turns of a signed-in caller. An account with sessions has a row. */
export function ownRow(turn: Pick<View, 'self'>, { account }: OwnAccount): AccountRow {
  const row = account.get({ user_uuid: turn.self.id });
  if (row === undefined) throw new Error('an active account has no row');
  return row;
}
