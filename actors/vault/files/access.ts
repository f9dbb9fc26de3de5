/**
 * The rights of a member on the files of a vault, by the present rows. A removed member has no access from that commit on, even
 * with a token. Only the user's own actor asks, and it has checked the session.
 */
import { type KeysResult, keys, type View } from '../../../runtime/command.ts';
import { invalidToken } from '../../files/by-token.ts';
import { isVoid } from '../../files/redeemed.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { type Refused, refuse } from '../../reply.ts';
import { memberKey, vaultKey } from '../member-list.ts';
import { type MemberRow, memberTable, vaultTable } from '../tables.ts';

export const readOnlyMember = refuse.badRequest('You may only read in this shared vault.');

export const accessPlan = (view: View, by: string) => ({
  vaults: keys(vaultTable, [vaultKey(view)]),
  member: keys(memberTable, [memberKey(view, by)]),
});
interface Reads {
  readonly vaults: KeysResult<typeof vaultTable>;
  readonly member: KeysResult<typeof memberTable>;
}

/** The vault, and the row of the asking member; undefined for a user who is no member. */
export function accessOf(view: Pick<View, 'self'>, by: string, { vaults, member }: Reads) {
  const vault = vaults.get(vaultKey(view));
  const asker = member.get(memberKey(view, by));
  return vault && asker && { vault, ...rightsOf({ asker }) };
}

export const rightsOf = ({ asker }: { readonly asker: Pick<MemberRow, 'permission'> }) => ({
  mayWrite: asker.permission !== 'read',
});

/** Undefined if the token allows the use. It may still be redeemed. */
export function refusalOfToken(
  view: View,
  claims: ValetClaims,
  asker: { readonly mayWrite: boolean } | undefined,
): Refused | undefined {
  const isForHere = claims.sharedVaultUuid === view.self.id || claims.move?.targetVaultUuid === view.self.id;
  if (!isForHere || asker === undefined || isVoid(view, claims)) return invalidToken;
  return claims.operation === 'read' || asker.mayWrite ? undefined : invalidToken;
}
