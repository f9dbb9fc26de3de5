/** The answer to a client that has signed in (docs/protocol/authentication.md, "Login"). */
import type { AccountRow } from './account-table.ts';
import { fullKeyParams } from './key-params.ts';
import type { GrantedSession, IssuedSession, SessionReply, SignInReply } from './session.ts';

interface ProtocolOwner {
  readonly protocolVersion: string;
}

export function signInReply(row: AccountRow, of: ProtocolOwner, granted: GrantedSession): SignInReply {
  return 'token' in granted ? { ...granted, user: userOf(row, of) } : sessionReply(row, of, granted);
}

export function sessionReply(row: AccountRow, of: ProtocolOwner, issued: IssuedSession): SessionReply {
  return { ...issued, key_params: fullKeyParams(row), user: userOf(row, of) };
}

const userOf = ({ user_uuid, identifier }: AccountRow, { protocolVersion }: ProtocolOwner) => ({
  uuid: user_uuid,
  email: identifier,
  protocolVersion,
});
