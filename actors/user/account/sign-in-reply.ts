import type { AccountRow } from '../../identity/account-table.ts';
import { fullKeyParams } from '../../identity/key-params.ts';
import type { Issued, SignInReply } from '../../identity/session.ts';
import type { Profile } from '../profile.ts';

export function signInReply(row: AccountRow, { protocolVersion }: Profile, issued: Issued): SignInReply {
  const user = { uuid: row.user_uuid, email: row.identifier, protocolVersion };
  return { ...issued, key_params: fullKeyParams(row), user };
}
